import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { execa } from "execa";
import { withLock } from "../lock.ts";
import { nodeProblem } from "../node-version.js";
import { cacheFolder, checkout, nodeBinary, onPath, ToolError } from "../paths.ts";
import { type Say, sayOnStderr } from "../progress.ts";
import { commandPlugin, commandVersion, languageHost, missing, standInPath } from "../standins.ts";
import { buildEngine, moduleFolder } from "./build.ts";
import { installEngine, installPlugin } from "./install.ts";

export interface Engine {
  /** The Pulumi CLI, an absolute path; `dirname(dirname(binary))` is a root for `PulumiCommand.get`. */
  binary: string;
  version: string;
  /** Where it comes from: PATH, the vendor's installer, or built here from the Go module. */
  source: "path" | "installed" | "built";
  /** What the engine's process needs on top of `process.env`. */
  env: Record<string, string>;
  /** The vendor's programs that stand-ins stand in for; empty when the vendor's are all here. */
  standIns: string[];
}

/** The SDK in node_modules says which engine it needs: its own version or a newer one. */
export function neededVersion(): string {
  const file = join(checkout, "node_modules", "@pulumi", "pulumi", "package.json");
  if (!existsSync(file)) throw new ToolError("node_modules is missing or incomplete: run npm ci");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

/** Whether `version` is at least `needed`; both are three numbers and no more. */
export function isEnough(version: string, needed: string): boolean {
  const [have, want] = [version, needed].map((text) => text.split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (have?.[i] ?? NaN) - (want?.[i] ?? NaN);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

async function versionOf(binary: string): Promise<string> {
  const environment = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  try {
    const { stdout } = await execa(binary, ["version"], { timeout: 20_000, env: environment });
    return stdout.trim().replace(/^v/, "");
  } catch {
    return "";
  }
}

export type Found = Pick<Engine, "binary" | "version" | "source">;

interface Places {
  cache: string;
  installed: string;
  built: string;
}

/** Where an engine of this version is kept; one that was built is kept by what it was built from. */
function places(version: string): Places {
  const cache = cacheFolder();
  const sums = createHash("sha256")
    .update(readFileSync(join(moduleFolder, "go.sum")))
    .digest("hex")
    .slice(0, 12);
  return {
    cache,
    installed: join(cache, `pulumi-${version}-installed`),
    built: join(cache, `pulumi-${version}-${sums}`),
  };
}

function cached(version: string, { installed, built }: Places): Found | undefined {
  for (const [root, source] of [
    [installed, "installed"],
    [built, "built"],
  ] as const) {
    const binary = join(root, "bin", "pulumi");
    if (existsSync(binary)) return { binary, version, source };
  }
  return undefined;
}

/** Whether `resolveEngine` has nothing to fetch or build, as far as can be told without running anything. */
export function enginePresent(): boolean {
  return (
    onPath("pulumi", process.env["PATH"]) !== undefined ||
    cached(neededVersion(), places(neededVersion())) !== undefined
  );
}

/** What `resolveEngine` would take as it is, and a program on PATH that is too old for it; gets nothing. */
export async function findEngine(): Promise<{ engine?: Found; tooOld?: string }> {
  const needed = neededVersion(),
    present = onPath("pulumi", process.env["PATH"]);
  const version = present === undefined ? "" : await versionOf(present);
  if (present !== undefined && isEnough(version, needed))
    return { engine: { binary: present, version, source: "path" } };
  const engine = cached(needed, places(needed));
  return {
    ...(engine === undefined ? {} : { engine }),
    ...(present === undefined ? {} : { tooOld: `${present} is Pulumi ${version || "of no known version"}` }),
  };
}

async function locate(needed: string, say: Say): Promise<Found> {
  const present = onPath("pulumi", process.env["PATH"]);
  if (present !== undefined) {
    const version = await versionOf(present);
    if (/^\d+\.\d+\.\d+/.test(version) && isEnough(version, needed))
      return { binary: present, version, source: "path" };
    say(
      `${present} is Pulumi ${version || "(of no known version)"}, and ${needed} or newer is needed: getting another one.`,
    );
  }
  const where = places(needed);
  return (
    cached(needed, where) ??
    withLock(
      join(where.cache, `pulumi-${needed}.lock`),
      async () => {
        if (!cached(needed, where) && !(await installEngine(needed, where.installed, where.cache, say))) {
          await buildEngine(needed, join(where.built, "bin", "pulumi"), say);
        }
        const found = cached(needed, where);
        if (!found) throw new ToolError(`Pulumi ${needed} was made but isn't in ${where.cache}`);
        return found;
      },
      (pid) => say(`Waiting for process ${pid}, which is getting Pulumi ${needed}.`),
    )
  );
}

let resolved: Promise<Engine> | undefined;

/**
 * Finds the Pulumi engine, or gets it. The vendor's language host and command plugin are used
 * where they are; only what is missing is replaced by a stand-in, put on the engine's PATH.
 *
 * @throws ToolError when there is no way to get it; the message says what to do.
 */
export function resolveEngine(say: Say = sayOnStderr): Promise<Engine> {
  resolved ??= resolve(say).catch((error: unknown) => {
    resolved = undefined;
    throw error;
  });
  return resolved;
}

async function resolve(say: Say): Promise<Engine> {
  const node = nodeBinary();
  const tooOld = node === process.execPath ? nodeProblem(process.version) : undefined;
  if (tooOld !== undefined) throw new ToolError(tooOld);
  const engine = await locate(neededVersion(), say);
  const lacking = missing(engine.binary, process.env);
  if (
    lacking.commandPlugin &&
    engine.source !== "built" &&
    (await installPlugin(engine.binary, commandVersion, cacheFolder(), say))
  ) {
    lacking.commandPlugin = missing(engine.binary, process.env).commandPlugin;
  }
  const standIns = [...(lacking.languageHost ? [languageHost] : []), ...(lacking.commandPlugin ? [commandPlugin] : [])];
  const path = [
    dirname(node),
    ...(standIns.length > 0 ? [standInPath(standIns)] : []),
    dirname(engine.binary),
    process.env["PATH"] ?? "",
  ].join(delimiter);
  return {
    ...engine,
    standIns,
    env: {
      PATH: path,
      PULUMI_SKIP_UPDATE_CHECK: "true",
      // The command plugin asks an agent that is named there, and fails every remote step when it is gone. No step needs
      // one: each has the stack's own key.
      SSH_AUTH_SOCK: "",
      // The program writes them into the result: where a figure shows, so does what it was measured on.
      MESHBENCH_STAND_INS: [process.env["MESHBENCH_STAND_INS"], ...standIns].filter(Boolean).join(";"),
      // Half of the start of the program and of the stand-ins is compiling the SDK.
      NODE_COMPILE_CACHE: join(checkout, ".meshbench", "compile-cache"),
      // Where the vendor's host is out of reach, a missing plugin is an error at once, not after minutes.
      ...(engine.source === "built" && { PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true" }),
    },
  };
}
