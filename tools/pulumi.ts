/** `npm run pulumi -- <any pulumi command>`: the engine with the project's defaults. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { resolveEngine } from "./engine/engine.ts";
import { pulumiHome, ToolError } from "./paths.ts";
import { sayOnStderr } from "./progress.ts";
import { openProject, type Project, stateFile } from "./project.ts";
import { runPulumi } from "./run.ts";
import { committedStacks, forgetStackFile } from "./start/stack-files.ts";

const help = `npm run pulumi -- <any pulumi command>, for example

  npm run pulumi -- up -s local
  npm run pulumi -- preview -s local
  npm run pulumi -- stack output --json -s local
  npm run pulumi -- config set meshbench:runId two -s local
  npm run pulumi -- destroy -s local

Runs Pulumi from PATH, or gets one and keeps it in a cache. A stack with a
Pulumi.<stack>.yaml is created on first use. Without a backend of your own
(PULUMI_BACKEND_URL, a login), state and a generated passphrase are kept in
.meshbench/, which git ignores; so is what "config set" sets. A run that was
killed leaves nothing for you to clear. Pulumi's own help: npm run pulumi -- up --help
`;

/** Options of Pulumi whose value is a file or folder, meant from where the user is. */
const pathOptions = [
  "--file",
  "--plan",
  "--save-plan",
  "--config-file",
  "--policy-pack",
  "--policy-pack-config",
  "--import-file",
  "--out",
  "--event-log",
];
const stackCommands = [
  "up",
  "update",
  "preview",
  "destroy",
  "refresh",
  "config",
  "cancel",
  "watch",
  "import",
  "state",
  "stack",
  "logs",
  "env",
];

function absolutePaths(args: string[], from: string): string[] {
  return args.map((argument, index) => {
    const [option = "", value] = argument.split(/=(.*)/s, 2);
    if (pathOptions.includes(option) && value !== undefined) return `${option}=${resolve(from, value)}`;
    return pathOptions.includes(args[index - 1] ?? "") ? resolve(from, argument) : argument;
  });
}

function optionValue(args: string[], names: string[]): string | undefined {
  for (const [index, argument] of args.entries()) {
    const [option = "", value] = argument.split(/=(.*)/s, 2);
    if (names.includes(option)) return value ?? args[index + 1];
  }
  return undefined;
}

/** The stack chosen by `pulumi stack select`, which Pulumi keeps in the user's home. */
function selectedStack(project: Project): string | undefined {
  const folder = join(pulumiHome(), "workspaces");
  if (!existsSync(folder)) return undefined;
  for (const name of readdirSync(folder).filter((file) => file.startsWith(`${project.name}-`))) {
    const { stack, path } = JSON.parse(readFileSync(join(folder, name), "utf8")) as { stack?: string; path?: string };
    if (path === undefined || path === join(project.work, "Pulumi.yaml")) return stack?.split("/").pop();
  }
  return undefined;
}

function stackOf(args: string[], words: string[], project: Project): string | undefined {
  const named = optionValue(args, ["-s", "--stack"]);
  if (named !== undefined) return named;
  // `stack rm local`, `stack select local`; `stack init` makes the stack itself.
  if (words[0] === "stack" && ["rm", "select"].includes(words[1] ?? "")) return words[2];
  if (words[0] === "stack" && ["init", "ls", "new"].includes(words[1] ?? "")) return undefined;
  return stackCommands.includes(words[0] ?? "") ? selectedStack(project) : undefined;
}

async function main(args: string[]): Promise<number> {
  if (args.length === 0 || (args.length === 1 && ["-h", "--help", "help"].includes(args[0] ?? ""))) {
    process.stdout.write(help);
    return 0;
  }
  const project = openProject();
  const words = args.filter(
    (argument, index) => !argument.startsWith("-") && !["-s", "--stack"].includes(args[index - 1] ?? ""),
  );
  const stack = stackOf(args, words, project);
  const engine = await resolveEngine();
  if (engine.standIns.length > 0 && ["up", "update", "preview", "destroy", "refresh"].includes(words[0] ?? "")) {
    sayOnStderr(
      `The vendor's ${engine.standIns.join(" and ")} ${engine.standIns.length > 1 ? "are" : "is"} not on this machine; stand-ins of this project are used.`,
    );
  }
  const { code } = await runPulumi(absolutePaths(args, process.env["INIT_CWD"] ?? process.cwd()), {
    project,
    ...(stack !== undefined && { stack }),
    destroying: ["destroy", "down"].includes(words[0] ?? ""),
  });
  const removed = code === 0 && words[0] === "stack" && words[1] === "rm" ? stack : undefined;
  if (removed !== undefined && !existsSync(stateFile(project, removed) ?? "/") && !args.includes("--preserve-config")) {
    forgetStackFile(project, removed);
  }
  if (code !== 0 && words.length > 0 && stack === undefined && stackCommands.includes(words[0] ?? "")) {
    sayOnStderr(`Name a stack with -s: ${committedStacks(project).join(", ")}.`);
  }
  return code;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ToolError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
