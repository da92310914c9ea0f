/** What is shipped to the driver node: the load engine as one file, and the Node runtime that runs it. */

import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { build } from "esbuild";
import { execa } from "execa";
import { checkout } from "../paths.ts";

/** As Node calls a processor. */
export type Cpu = "x64" | "arm64";

export interface Shipment {
  /**
   * On the operator's machine, gzip-compressed when the name ends in .gz. Relative to the checkout where it lies in it:
   * what a step is told must not depend on where the checkout is.
   */
  source: string;
  /** On the node; the name carries the content's hash, so what is there is right. */
  target: string;
  sha256: string;
  mode: string;
}

export const REMOTE_DIR = "/opt/meshbench";

const cacheDir = (): string =>
  join(
    process.env["MESHBENCH_CACHE"] ?? join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "meshbench"),
    "ship",
  );

async function sha256File(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Bundles workloads/cli.ts; the same sources give the same bytes, and so the same hash. */
export async function bundleLoadEngine(root: string): Promise<Shipment> {
  const built = await build({
    entryPoints: [join(root, "workloads/cli.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    write: false,
    absWorkingDir: root,
    legalComments: "none",
    logLevel: "silent",
    external: ["cpu-features", "pg-native", "pg-cloudflare"],
    // Libraries in CommonJS call require() for what Node has built in; an ES module has none of its own.
    banner: {
      js: "import { createRequire as meshbenchRequire } from 'node:module'; const require = meshbenchRequire(import.meta.url);",
    },
  });
  const text = built.outputFiles[0]!.text;
  const sha256 = createHash("sha256").update(text).digest("hex");
  const source = join(".meshbench", "build", `load-${sha256.slice(0, 12)}.mjs`),
    file = join(root, source);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (!existsSync(file)) {
    writeFileSync(`${file}.${process.pid}`, text);
    renameSync(`${file}.${process.pid}`, file);
  }
  return { source, target: `${REMOTE_DIR}/load-${sha256.slice(0, 12)}.mjs`, sha256, mode: "0644" };
}

/**
 * The Linux binary of Node 24 for a driver's processor, packed once and kept: the one that npm brought, or, for another
 * processor than this machine's, the package that npm leaves out here. Throws a sentence when there is none.
 */
export async function nodeRuntime(cpu: Cpu = "x64"): Promise<Shipment> {
  const binary = findNode(cpu) ?? (await fetchNode(cpu, checkout));
  const stat = statSync(binary);
  const key = createHash("sha256").update(`${binary} ${stat.size} ${stat.mtimeMs}`).digest("hex").slice(0, 16);
  // Which content this binary has is noted once; the packed file is named by that, the same for every checkout.
  const note = join(cacheDir(), `node-${key}.sha256`);
  const packedOf = (sum: string): string => join(cacheDir(), `node-${sum.slice(0, 12)}.gz`);
  if (!existsSync(note) || !existsSync(packedOf(readFileSync(note, "utf8")))) {
    mkdirSync(cacheDir(), { recursive: true });
    const temporary = join(cacheDir(), `node-${key}.${process.pid}`);
    await pipeline(createReadStream(binary), createGzip({ level: 1 }), createWriteStream(temporary));
    const sum = await sha256File(binary);
    renameSync(temporary, packedOf(sum));
    writeFileSync(`${note}.${process.pid}`, sum);
    renameSync(`${note}.${process.pid}`, note);
  }
  const sha256 = readFileSync(note, "utf8");
  return { source: packedOf(sha256), target: `${REMOTE_DIR}/node-${sha256.slice(0, 12)}`, sha256, mode: "0755" };
}

function findNode(cpu: Cpu): string | undefined {
  try {
    const found = join(dirname(createRequire(import.meta.url).resolve(`node-linux-${cpu}/package.json`)), "bin/node");
    if (existsSync(found)) return found;
  } catch {
    /* npm leaves an optional package out on other platforms */
  }
  return process.platform === "linux" && process.arch === cpu ? process.execPath : undefined;
}

/** By npm's own client, in the version and with the content that the lockfile of `root` has; kept in the cache. */
export async function fetchNode(cpu: Cpu, root: string, npm = "npm"): Promise<string> {
  const name = `node-linux-${cpu}`;
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version?: string; integrity?: string } | undefined>;
  };
  const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined) throw new Error(`${name} is not in package-lock.json`);
  const kept = join(cacheDir(), `${name}-${version}`),
    binary = join(kept, "package", "bin", "node");
  if (existsSync(binary)) return binary;
  mkdirSync(cacheDir(), { recursive: true });
  const folder = mkdtempSync(join(cacheDir(), "fetch-"));
  try {
    await execa(npm, ["pack", "--silent", "--pack-destination", folder, `${name}@${version}`], { cwd: folder }).catch(
      (error: Error & { stderr?: string }) => {
        const why = (error.stderr || error.message).trim().split("\n").at(-1);
        throw new Error(`no Linux ${cpu} Node for the driver node: npm could not bring ${name}@${version} (${why})`);
      },
    );
    const archive = join(folder, `${name}-${version}.tgz`);
    const got = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
    if (got !== integrity)
      throw new Error(`${name}@${version} is not what package-lock.json has: ${got}; nothing was kept`);
    await execa("tar", ["-xzf", archive, "-C", folder, "package/bin/node"]);
    rmSync(archive);
    if (!existsSync(binary)) renameSync(folder, kept);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return binary;
}
