import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";

/** The folder that holds package.json, Pulumi.yaml and all the rest. */
export const checkout = dirname(import.meta.dirname);

/** Where an error of the user's making, or of the machine's, is one sentence and no stack trace. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Step by step: Node's recursive mkdir never returns in some file systems (/proc). */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // another process was quicker
  }
}

function writable(folder: string): boolean {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The user's home folder; undefined where HOME is not set and the user's id has no entry in the password file. */
export function homeFolder(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** Where Pulumi keeps plugins and logins. */
export const pulumiHome = (environment: NodeJS.ProcessEnv = process.env): string =>
  environment["PULUMI_HOME"] ?? join(homeFolder() ?? "/", ".pulumi");

/**
 * What is expensive to get and worth keeping between checkouts: $MESHBENCH_CACHE, else
 * /var/cache/meshbench for root, else ~/.cache/meshbench.
 */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const chosen = environment["MESHBENCH_CACHE"];
  if (chosen) {
    if (writable(resolve(chosen))) return resolve(chosen);
    throw new ToolError(`MESHBENCH_CACHE is ${chosen}, which can't be written to; name a folder that can`);
  }
  if (process.getuid?.() === 0 && writable("/var/cache/meshbench")) return "/var/cache/meshbench";
  const home = homeFolder();
  if (home === undefined)
    throw new ToolError(
      "HOME: not set, and this user has no home folder; expected a folder to cache the Pulumi engine in: set HOME or MESHBENCH_CACHE",
    );
  const own = join(home, ".cache", "meshbench");
  if (writable(own)) return own;
  throw new ToolError(`no folder to cache the Pulumi engine in: ${own} can't be written to; set MESHBENCH_CACHE`);
}

/** The first program of that name on a PATH, leaving out a folder and what is below it. */
export function onPath(program: string, path: string | undefined, without?: string): string | undefined {
  for (const folder of (path ?? "").split(delimiter)) {
    if (folder === "" || (without !== undefined && `${folder}/`.startsWith(`${without}/`))) continue;
    const file = join(folder, program);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // not in this folder
    }
  }
  return undefined;
}

/** Node for the Pulumi program: the one npm installed, else the one that runs this. */
export function nodeBinary(): string {
  const installed = join(checkout, "node_modules", ".bin", "node");
  return existsSync(installed) ? installed : process.execPath;
}
