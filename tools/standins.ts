import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkout, nodeBinary, onPath, pulumiHome } from "./paths.ts";

export const languageHost = "pulumi-language-nodejs";
export const commandPlugin = "pulumi-resource-command";
export const commandVersion = "1.2.1";

function pluginFolder(environment: NodeJS.ProcessEnv): string {
  const home = pulumiHome(environment);
  return join(home, "plugins", `resource-command-v${commandVersion}`);
}

/** Which of the vendor's programs this machine has not. */
export function missing(
  engine: string,
  environment: NodeJS.ProcessEnv,
): { languageHost: boolean; commandPlugin: boolean } {
  const without = standInFolder();
  return {
    languageHost:
      !existsSync(join(dirname(engine), languageHost)) &&
      onPath(languageHost, environment["PATH"], without) === undefined,
    commandPlugin:
      onPath(commandPlugin, environment["PATH"], without) === undefined &&
      !existsSync(join(pluginFolder(environment), commandPlugin)),
  };
}

export function standInFolder(): string {
  return join(checkout, ".meshbench", "stand-ins");
}

/**
 * Makes one folder per set of stand-ins, to be put on PATH: the engine finds plugins there by
 * their names.
 */
export function standInPath(names: string[]): string {
  const folder = join(standInFolder(), names.map((name) => name.replace(/^pulumi-/, "")).join("+"));
  for (const name of names) {
    const file = join(folder, name);
    const script = [
      "#!/bin/sh",
      `# A stand-in for the vendor's ${name}, which this machine doesn't have.`,
      `exec '${nodeBinary()}' '${join(checkout, "standins", name, "main.ts")}' "$@"`,
      "",
    ].join("\n");
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, script);
    chmodSync(`${file}.${process.pid}`, 0o755);
    renameSync(`${file}.${process.pid}`, file);
  }
  return folder;
}
