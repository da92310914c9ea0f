/** What a machine needs to run local nodes. */
import { existsSync } from "node:fs";
import { readFile, stat, statfs } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { paths } from "./registry.ts";
import { LabError, progress, run, tryRun } from "./run.ts";

/** Program to Debian package. */
const PROGRAMS: Record<string, string> = {
  mmdebstrap: "mmdebstrap",
  "systemd-nspawn": "systemd-container",
  systemctl: "systemd",
  ip: "iproute2",
  iptables: "iptables",
  "iptables-restore": "iptables",
  gcc: "gcc",
  "ssh-keygen": "openssh-client",
  sysctl: "procps",
  nsenter: "util-linux",
  setpriv: "util-linux",
  unshare: "util-linux",
};
const HEADERS: Record<string, string> = {
  "/usr/include/stdio.h": "libc6-dev",
  "/usr/include/linux/if_tun.h": "linux-libc-dev",
};
/** The image 0.9 GB, four nodes after a run 0.9 GB. */
const FREE_BYTES = 2e9;
/** From linux/magic.h. */
const OVERLAYFS_MAGIC = 0x794c7630;

const search = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
const hasProgram = (name: string) => search.some((directory) => directory && existsSync(join(directory, name)));

export interface Check {
  ok: boolean;
  missingPackages: string[];
  problems: string[];
}

export async function check(): Promise<Check> {
  const problems: string[] = [];
  if (process.platform !== "linux") problems.push("local nodes need Linux");
  if (process.getuid?.() !== 0) problems.push("local nodes need root");
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  if (!/^ID=debian$/m.test(release))
    problems.push("local nodes need a Debian machine (/etc/os-release says something else)");
  if (
    !(await stat("/dev/net/tun").then(
      (found) => found.isCharacterDevice(),
      () => false,
    ))
  )
    problems.push("/dev/net/tun is missing");
  const filesystems = await readFile("/proc/filesystems", "utf8").catch(() => "");
  if (
    !/\toverlay$/m.test(filesystems) &&
    (await tryRun("modprobe", ["overlay"]).then(
      (result) => result.code !== 0,
      () => true,
    ))
  )
    problems.push("the kernel has no overlay file system");
  const state = [paths.state, dirname(paths.state), "/var/lib"].find(existsSync) ?? "/";
  const disk = await statfs(state);
  if (disk.type === OVERLAYFS_MAGIC)
    problems.push(
      `${state} is on an overlay file system, which can't hold the disks of nodes: mount a volume at ${dirname(paths.state)}`,
    );
  const free = disk.bavail * disk.bsize;
  if (free < FREE_BYTES)
    problems.push(`${state} has ${(free / 1e9).toFixed(1)} GB free, ${FREE_BYTES / 1e9} GB are needed`);
  const missing = [
    ...Object.entries(PROGRAMS).filter(([program]) => !hasProgram(program)),
    ...Object.entries(HEADERS).filter(([header]) => !existsSync(header)),
  ].map(([, name]) => name);
  const missingPackages = [...new Set(missing)].sort();
  if (missingPackages.length)
    problems.push(`missing Debian packages: ${missingPackages.join(" ")} (\`lab check --install\` installs them)`);
  return { ok: problems.length === 0, missingPackages, problems };
}

/** @throws LabError that names everything that is missing. */
export async function requireMachine(): Promise<void> {
  const { problems } = await check();
  if (problems.length) throw new LabError(problems.join("; "));
}

/** Installs missing packages with apt; does nothing when all are there. */
export async function installMissing(): Promise<string[]> {
  const { missingPackages } = await check();
  if (missingPackages.length === 0) return [];
  if (process.getuid?.() !== 0) throw new LabError("installing packages needs root");
  process.env.DEBIAN_FRONTEND = "noninteractive";
  const apt = (...args: string[]) =>
    tryRun("apt-get", ["-o", "DPkg::Lock::Timeout=300", ...args], { timeoutMs: 600_000 });
  const install = () => apt("install", "-y", "--no-install-recommends", ...missingPackages);
  progress(`installing ${missingPackages.join(" ")}`);
  let result = await install();
  if (result.code !== 0) {
    // The package lists are missing or older than the archive.
    await run("apt-get", ["-o", "DPkg::Lock::Timeout=300", "update"], { timeoutMs: 300_000 });
    result = await install();
  }
  if (result.code !== 0)
    throw new LabError(
      `apt-get could not install ${missingPackages.join(" ")}: ${result.stderr.trim().split("\n").at(-1) ?? ""}`,
    );
  return missingPackages;
}
