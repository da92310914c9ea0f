import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { createWhole } from "./exclusive.ts";
import { checkout, pulumiHome, ToolError } from "./paths.ts";

/** A Pulumi project and where what belongs to this machine alone is kept: state, passphrase, stack files. */
export interface Project {
  name: string;
  /** The folder with the committed Pulumi.yaml. */
  root: string;
  /** Git-ignored, mode 0700. */
  private: string;
  /** Where the engine is run: a copy of Pulumi.yaml and of the stacks' files, see stack-files.ts. */
  work: string;
  /** The folder of the file backend; undefined when the user has a backend of their own. */
  state: string | undefined;
  /** What makes the engine use that backend and its passphrase. */
  env: Record<string, string>;
}

/**
 * Whether the user has chosen a backend: PULUMI_BACKEND_URL, `backend.url` in Pulumi.yaml, or a
 * `pulumi login` on this machine.
 */
function hasOwnBackend(environment: NodeJS.ProcessEnv, settings: { backend?: { url?: string } }): boolean {
  if (environment["PULUMI_BACKEND_URL"] || settings.backend?.url) return true;
  const home = environment["PULUMI_CREDENTIALS_PATH"] ?? pulumiHome(environment);
  try {
    const { current } = JSON.parse(readFileSync(join(home, "credentials.json"), "utf8")) as { current?: string };
    return Boolean(current);
  } catch {
    return false;
  }
}

/** Makes the passphrase once; two runs that start together end up with the same one. */
function passphraseFile(folder: string): string {
  const file = join(folder, "passphrase");
  if (existsSync(file)) return file;
  createWhole(file, randomBytes(32).toString("base64url"), 0o600);
  return file;
}

/**
 * The project at `root`. Without a backend of the user's own, state goes to `.meshbench/state` and
 * secrets are encrypted with a passphrase generated on first use.
 */
export function openProject(root: string = checkout, environment: NodeJS.ProcessEnv = process.env): Project {
  const file = join(root, "Pulumi.yaml");
  if (!existsSync(file)) throw new ToolError(`there is no Pulumi.yaml in ${root}`);
  const settings = parse(readFileSync(file, "utf8")) as { name: string; backend?: { url?: string } };
  const folder = join(root, ".meshbench");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const work = join(folder, "project");
  const project = { name: settings.name, root, private: folder, work };
  if (hasOwnBackend(environment, settings)) return { ...project, state: undefined, env: {} };
  const state = join(folder, "state");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const hasPassphrase =
    environment["PULUMI_CONFIG_PASSPHRASE"] !== undefined || environment["PULUMI_CONFIG_PASSPHRASE_FILE"];
  return {
    ...project,
    state,
    env: {
      PULUMI_BACKEND_URL: pathToFileURL(state).href,
      ...(!hasPassphrase && { PULUMI_CONFIG_PASSPHRASE_FILE: passphraseFile(folder) }),
    },
  };
}

/** What a stack's files are named by, of `stack`, `organization/stack` or `organization/project/stack`. */
export const stackName = (stack: string): string => stack.slice(stack.lastIndexOf("/") + 1);

/** Where the file backend keeps a stack. */
export function stateFile(project: Project, stack: string): string | undefined {
  return project.state && join(project.state, ".pulumi", "stacks", project.name, `${stackName(stack)}.json`);
}

/** Where it keeps the locks of that stack. */
export function lockFolder(project: Project, stack: string): string | undefined {
  return project.state && join(project.state, ".pulumi", "locks", "organization", project.name, stackName(stack));
}

/** A folder that is there, for a file to be written into. */
export function folderOf(file: string): string {
  mkdirSync(dirname(file), { recursive: true });
  return file;
}
