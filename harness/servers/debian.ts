/**
 * Debian packages that tests against real servers need (mariadb-server, postgresql, sysbench, ...).
 * They are test tools, not a service of this machine: nothing that a package brings is started or enabled.
 */
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export type Packages = { ok: true } | { ok: false; reason: string };

const POLICY = "/usr/sbin/policy-rc.d";
const LOCK = "/run/lock/meshbench-packages.lock";
/** Test files run as processes of their own: one installs, the others wait this long for it. */
const LOCK_WAIT_MS = 600_000;

/**
 * Makes sure that the packages are installed, installing them when this process is root on Debian.
 * Returns the reason when they cannot be had: the test then skips with it (`t.skip(packages.reason)`).
 */
export async function ensurePackages(names: string[]): Promise<Packages> {
  if (missing(names).length === 0) return { ok: true };
  if (process.getuid?.() !== 0)
    return {
      ok: false,
      reason: `not installed: ${missing(names).join(", ")} (apt-get install them; this process is not root)`,
    };
  if (!existsSync("/usr/bin/apt-get"))
    return { ok: false, reason: `not installed: ${missing(names).join(", ")} (no apt-get here)` };
  if (!(await lock())) return { ok: false, reason: `another process has held ${LOCK} for ten minutes` };
  try {
    return install(missing(names));
  } finally {
    rmSync(LOCK, { force: true });
  }
}

function missing(names: string[]): string[] {
  return names.filter((name) => {
    const status = spawnSync("dpkg-query", ["-W", "-f=${Status}", name], { encoding: "utf8" });
    return status.error !== undefined || !status.stdout.includes("install ok installed");
  });
}

function install(names: string[]): Packages {
  if (names.length === 0) return { ok: true };
  // A policy that somebody else put there stays; ours is removed again.
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    let last = "";
    // The second try comes after an update of the package lists: stale lists point to versions that are gone.
    for (const steps of [[installStep(names)], [["update", "-q"], installStep(names)]]) {
      let failed = false;
      for (const args of steps) {
        const ran = spawnSync("apt-get", args, {
          encoding: "utf8",
          env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
        });
        failed = ran.status !== 0;
        if (failed) last = (ran.stderr || ran.error?.message || "").trim().split("\n").at(-1) ?? "";
      }
      if (!failed && missing(names).length === 0) return { ok: true };
    }
    return { ok: false, reason: `apt-get install ${names.join(" ")} failed: ${last}` };
  } finally {
    if (ours) rmSync(POLICY, { force: true });
  }
}

function installStep(names: string[]): string[] {
  return ["install", "-y", "-q", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", ...names];
}

async function lock(): Promise<boolean> {
  mkdirSync("/run/lock", { recursive: true });
  const deadline = Date.now() + LOCK_WAIT_MS;
  while (Date.now() < deadline) {
    try {
      const file = openSync(LOCK, "wx");
      writeFileSync(file, String(process.pid));
      closeSync(file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (holderIsGone()) rmSync(LOCK, { force: true });
      else await sleep(500);
    }
  }
  return false;
}

function holderIsGone(): boolean {
  try {
    const pid = Number(readFileSync(LOCK, "utf8"));
    return pid > 0 && !existsSync(`/proc/${pid}`);
  } catch {
    return false;
  }
}
