/** The MaxScale that tests may use: MESHBENCH_MAXSCALE_ARCHIVE names a .tar.zst tree or a .deb. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

export type GivenArchive = { ok: true; path: string; sha256: string; version: string } | { ok: false; reason: string };

/** `version`: what the tree's own program says, or the default of the configuration for a package. */
export function givenArchive(): GivenArchive {
  const given = process.env["MESHBENCH_MAXSCALE_ARCHIVE"];
  if (!given)
    return {
      ok: false,
      reason:
        "NOT RUN: no MaxScale here; MESHBENCH_MAXSCALE_ARCHIVE names a .deb, or a tree packed as .tar.zst (vendor's repository or a build from source)",
    };
  const path = resolve(given);
  if (!existsSync(path))
    return { ok: false, reason: `NOT RUN: MESHBENCH_MAXSCALE_ARCHIVE names ${path}, and there is no such file` };
  return { ok: true, path, sha256: createHash("sha256").update(readFileSync(path)).digest("hex"), version: "24.02.5" };
}

/** Unpacks a tree into a folder and returns how to start its maxscale; undefined for a package. */
export function unpack(
  path: string,
  into: string,
): { command: string; args: string[]; env: NodeJS.ProcessEnv } | undefined {
  if (!path.endsWith(".tar.zst")) return undefined;
  const ran = spawnSync("tar", ["--zstd", "-xf", path, "-C", into], { encoding: "utf8" });
  if (ran.status !== 0) throw new Error(ran.stderr);
  const find = (...args: string[]): string =>
    spawnSync("find", [into, ...args], { encoding: "utf8" }).stdout.split("\n")[0]!;
  const command = find("-path", "*/bin/maxscale");
  const libraries = find("-name", "libmaxscale-common.so*").replace(/\/[^/]*$/, "");
  const prefix = command.replace(/\/bin\/maxscale$/, "");
  return {
    command,
    args: [`--libdir=${libraries}`, `--connector_plugindir=${libraries}/plugin`, `--sharedir=${prefix}/share/maxscale`],
    env: { ...process.env, LD_LIBRARY_PATH: libraries },
  };
}
