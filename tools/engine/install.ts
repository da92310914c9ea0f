import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeBinary } from "../paths.ts";
import { duration, type Say, withProgress } from "../progress.ts";

const probeMs = 4000;
const installMs = 5 * 60_000;
const rememberMs = 60 * 60_000;

/**
 * Whether the vendor's download host answers. A no is remembered for an hour, so that a machine
 * without a way there doesn't wait each time.
 */
async function vendorAnswers(cache: string): Promise<boolean> {
  const memory = join(cache, "vendor-host-unreachable");
  if (existsSync(memory) && Date.now() - Number(readFileSync(memory, "utf8")) < rememberMs) return false;
  try {
    await fetch("https://get.pulumi.com/install.sh", { method: "HEAD", signal: AbortSignal.timeout(probeMs) });
    return true;
  } catch {
    writeFileSync(memory, String(Date.now()));
    return false;
  }
}

/** Runs a program, bounded in time; its whole process group ends with it. */
function bounded(command: string, args: string[], milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "ignore", detached: true });
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, milliseconds);
    const done = (ok: boolean) => {
      clearTimeout(timer);
      resolve(ok);
    };
    child.once("error", () => done(false));
    child.once("exit", (code) => done(code === 0));
  });
}

/**
 * Installs Pulumi with the vendor's own installer into `root` (`root/bin/pulumi` and its language
 * hosts), where that can be reached. False: it can't, or didn't end in time.
 */
export async function installEngine(version: string, root: string, cache: string, say: Say): Promise<boolean> {
  if (!(await vendorAnswers(cache))) return false;
  const unfinished = `${root}.${process.pid}`;
  mkdirSync(dirname(root), { recursive: true });
  const what = `Getting Pulumi ${version} from its vendor`;
  say(`${what}.`);
  try {
    const installed = await withProgress(
      what,
      say,
      bounded(nodeBinary(), [fileURLToPath(import.meta.url), unfinished], installMs),
    );
    if (installed && existsSync(join(unfinished, "bin", "pulumi"))) {
      renameSync(unfinished, root);
      return true;
    }
    say(`The vendor's installer did not succeed within ${duration(installMs)}.`);
    return false;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Installs the vendor's command plugin, where it can be reached. */
export async function installPlugin(pulumi: string, version: string, cache: string, say: Say): Promise<boolean> {
  if (!(await vendorAnswers(cache))) return false;
  const what = `Getting the command plugin ${version} from its vendor`;
  return withProgress(what, say, bounded(pulumi, ["plugin", "install", "resource", "command", version], 60_000));
}

if (process.argv[1] === import.meta.filename) {
  const { PulumiCommand } = await import("@pulumi/pulumi/automation/index.js");
  await PulumiCommand.install({ root: process.argv[2] ?? "" }); // the version is the SDK's own
}
