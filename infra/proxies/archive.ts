/** The package or tree of meshbench:proxy.archive, on the operator's machine. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { REMOTE_DIR, type Shipment } from "../benchmark/bundle.ts";
import type { ProxyConfig } from "../config/schema.ts";
import type { DebianRelease } from "../config/sites/common.ts";
import { glibcOfTree, glibcProblem } from "./glibc.ts";

export type Archive = NonNullable<ProxyConfig["archive"]>;

/**
 * One sentence when the file is not there, of another kind or of other content than the configuration says, or a tree that
 * was built for a newer Debian than `release`. Of a package the node compares what it depends on.
 */
export async function archiveProblem(
  archive: Archive,
  root: string,
  release?: DebianRelease,
): Promise<string | undefined> {
  const path = localPath(archive.path, root);
  if (!existsSync(path) || !statSync(path).isFile())
    return `meshbench:proxy.archive.path: ${JSON.stringify(archive.path)}; expected a file, and there is no ${path}`;
  if (kindOf(archive) === undefined)
    return `meshbench:proxy.archive.path: ${JSON.stringify(archive.path)}; expected a .deb package or a tree packed as .tar.zst`;
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  const found = hash.digest("hex");
  if (found !== archive.sha256)
    return `meshbench:proxy.archive.sha256: ${archive.sha256}; expected ${found}, which ${path} has`;
  const newer = kindOf(archive) === "tree" ? glibcProblem(await glibcOfTree(path), release) : undefined;
  return newer && `meshbench:proxy.archive.path: ${JSON.stringify(archive.path)}, which ${newer}`;
}

export function kindOf(archive: Archive): "deb" | "tree" | undefined {
  if (archive.path.endsWith(".deb")) return "deb";
  return archive.path.endsWith(".tar.zst") ? "tree" : undefined;
}

/** The name on the node carries the content's hash, so that what is there is right. */
export function archiveShipment(archive: Archive, root: string): Shipment {
  return {
    source: relative(root, localPath(archive.path, root)).startsWith("..")
      ? localPath(archive.path, root)
      : relative(root, localPath(archive.path, root)),
    target: `${REMOTE_DIR}/maxscale-${archive.sha256.slice(0, 12)}${kindOf(archive) === "deb" ? ".deb" : ".tar.zst"}`,
    sha256: archive.sha256,
    mode: "0644",
  };
}

function localPath(path: string, root: string): string {
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : resolve(root, path);
}
