/** The node image: a Debian root directory, built once per recipe and release and shared read-only by all nodes. */
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withLock } from "../lock.ts";
import { listDirectory, listLabs, listNodes, readNode, removeDirectory } from "../registry.ts";
import { LabError, progress, run, tryRun } from "../run.ts";
import { cacheBase } from "./cache.ts";
import { type Debian, machineAptOptions, machineSources, SUITES } from "./mirror.ts";
import { archiveOf, makeArchive } from "./package-archive.ts";
import {
  ARCHIVE_PACKAGES,
  BARE_FILES,
  BARE_MASKED_UNITS,
  BARE_PACKAGES,
  DPKG_OPTIONS,
  disabledUnitsOf,
  FILES,
  IDENTITY_FILES,
  MASKED_UNITS,
  packagesOf,
} from "./recipe.ts";

const BUILD_LIMIT_MS = 20 * 60_000;

/** `bare`: as a cloud's image, beside an archive of what its nodes may install; else with all that a stack needs. */
export interface Variant {
  debian: Debian;
  bare: boolean;
}

interface Recipe {
  packages: string[];
  disabled: string[];
  masked: string[];
  /** Made by a package and to be made by each node for itself: two servers with one identity can't be told apart. */
  removed: string[];
  files: Record<string, string>;
  archive: string[];
}

function recipeOf({ debian, bare }: Variant): Recipe {
  const common = { removed: debian === "sid" ? IDENTITY_FILES : [] };
  return bare
    ? {
        ...common,
        packages: BARE_PACKAGES,
        disabled: [],
        masked: BARE_MASKED_UNITS,
        files: BARE_FILES,
        archive: ARCHIVE_PACKAGES,
      }
    : {
        ...common,
        packages: packagesOf(debian),
        disabled: disabledUnitsOf(debian),
        masked: MASKED_UNITS,
        files: FILES,
        archive: [],
      };
}

/** Directory of the image of the present recipe, whether it is there or not. */
export function imageRoot(debian: Debian, bare = false): string {
  const { packages, disabled, masked, removed, files, archive } = recipeOf({ debian, bare });
  const recipe = JSON.stringify([
    SUITES[debian],
    packages,
    DPKG_OPTIONS,
    disabled,
    masked,
    files,
    ...(bare ? [archive] : []),
    ...(removed.length > 0 ? [removed] : []),
  ]);
  return join(cacheBase(), "images", createHash("sha256").update(recipe).digest("hex").slice(0, 12), "root");
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * What of an image a node's own users have to read, whoever built it. An image whose builder had a umask of 027 or 077
 * boots, and then its servers can't enter their own directories.
 */
const READABLE: Record<string, number> = { "": 0o755, etc: 0o755, usr: 0o755, var: 0o755, "var/lib": 0o755 };

/** The first path of an image whose mode keeps its users out, with both modes; undefined for a good one. */
export async function closedPath(root: string): Promise<string | undefined> {
  const wanted = Object.entries(READABLE);
  for (const path of Object.keys(FILES)) wanted.push([dirname(path), 0o755], [path, 0o644]);
  for (const [path, least] of wanted) {
    const mode = (await stat(join(root, path)).catch(() => undefined))?.mode;
    if (mode !== undefined && (mode & least) !== least)
      return `/${path} has mode ${(mode & 0o777).toString(8).padStart(4, "0")} instead of ${least.toString(8).padStart(4, "0")}`;
  }
  return undefined;
}

/**
 * The image of a release other than the default is built when it is first asked for.
 * @throws LabError when the default one has not been built, or can't be used.
 */
export async function requireImage(debian: Debian, bare = false): Promise<string> {
  const root = imageRoot(debian, bare);
  const closed = await closedPath(root);
  if (closed === undefined && (await exists(root))) return root;
  if (debian !== 12 || bare) return (await buildImage(debian, bare)).path;
  if (closed !== undefined)
    throw new LabError(`the node image can't be used: ${closed}; \`lab image build\` builds it anew (about a minute)`);
  throw new LabError("the node image has not been built yet; `lab image build` builds it (about a minute)");
}

/** Builds the image unless it is there; one builder at a time. @returns its root directory. */
export async function buildImage(
  debian: Debian = 12,
  bare = false,
): Promise<{ path: string; built: boolean; seconds: number }> {
  const started = Date.now();
  const recipe = recipeOf({ debian, bare });
  const root = imageRoot(debian, bare);
  const base = dirname(root);
  const usable = async () => (await exists(root)) && (await closedPath(root)) === undefined;
  const built =
    !(await usable()) &&
    (await withLock(`image ${base.slice(-60)}`, BUILD_LIMIT_MS, async () => {
      if (await usable()) return false;
      const closed = await closedPath(root);
      if (closed !== undefined) progress(`node image: ${closed}: built anew`);
      await mkdir(base, { recursive: true });
      // What a killed builder left.
      for (const entry of await readdir(base)) await rm(join(base, entry), { recursive: true, force: true });
      const partial = join(base, "partial");
      try {
        await bootstrap(partial, debian, recipe.packages);
        await customize(partial, recipe);
        if (recipe.archive.length > 0) await makeArchive(archiveOf(root), partial, debian, recipe.archive);
      } catch (error) {
        await rm(partial, { recursive: true, force: true });
        throw error;
      }
      const bad = await closedPath(partial);
      if (bad !== undefined) throw new LabError(`the node image can't be built: ${bad}`);
      await rename(partial, root);
      return true;
    }));
  const seconds = Math.round((Date.now() - started) / 100) / 10;
  progress(built ? `node image built in ${seconds} s: ${root}` : `node image is there: ${root}`);
  return { path: root, built, seconds };
}

/** Removes the images of other recipes, except those that some node runs on. @returns what was removed. */
export async function pruneImages(): Promise<string[]> {
  const images = dirname(dirname(imageRoot(12)));
  const kept = new Set(
    ([12, 13, "sid", "patroni"] as const).flatMap((debian) =>
      [false, true].map((bare) => dirname(imageRoot(debian, bare))),
    ),
  );
  for (const lab of await listLabs())
    for (const node of await listNodes(lab)) kept.add(dirname((await readNode(lab, node))?.image ?? ""));
  const removed = (await listDirectory(images)).map((entry) => join(images, entry)).filter((path) => !kept.has(path));
  for (const path of removed) await removeDirectory(path);
  return removed;
}

/**
 * Whoever kills the builder ends the whole build: its processes live in a namespace that dies with it, and its
 * mounts in one that nobody else sees, so that the next builder can remove what it left.
 */
const BOUND_TO_PARENT = [
  "--pdeathsig",
  "KILL",
  "unshare",
  "--mount",
  "--pid",
  "--fork",
  "--kill-child=KILL",
  "--mount-proc",
  "--",
];

async function bootstrap(target: string, debian: Debian, packages: string[]): Promise<void> {
  progress(`node image: Debian ${SUITES[debian]} with ${packages.length} packages and what they need`);
  const options = [
    'APT::Install-Recommends "false"',
    // Lists of the unstable suite are good for a week only, and a mirror that is a cache may be older.
    ...(debian === "sid" ? ['Acquire::Check-Valid-Until "false"'] : []),
    ...(await machineAptOptions()),
  ];
  const result = await tryRun(
    "setpriv",
    [
      ...BOUND_TO_PARENT,
      "mmdebstrap",
      "--mode=root",
      "--variant=minbase",
      `--include=${packages.join(",")}`,
      ...options.map((option) => `--aptopt=${option}`),
      ...DPKG_OPTIONS.map((option) => `--dpkgopt=${option}`),
      SUITES[debian],
      target,
      ...(await machineSources(debian)),
    ],
    {
      timeoutMs: BUILD_LIMIT_MS,
      onLine: (line) => {
        if (line.startsWith("I: ")) progress(`node image: ${line.slice(3)}`);
      },
    },
  );
  if (result.code !== 0) {
    const errors = result.stderr.split("\n").filter((line) => /^(E|Err|W):|dpkg: error/.test(line));
    throw new LabError(
      `the node image can't be built: ${errors.slice(0, 2).join("; ") || `mmdebstrap ended with code ${result.code}`}`,
    );
  }
}

async function customize(root: string, { files, disabled, masked, removed }: Recipe): Promise<void> {
  progress("node image: settings");
  for (const [path, text] of Object.entries(files)) {
    await rm(join(root, path), { force: true });
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text, { mode: 0o644 });
    await chmod(join(root, path), 0o644);
  }
  const there = await present(root, disabled);
  if (there.length > 0) await run("systemctl", [`--root=${root}`, "disable", "-q", ...there]);
  for (const unit of masked) {
    await rm(join(root, "etc/systemd/system", unit), { recursive: true, force: true });
    await symlink("/dev/null", join(root, "etc/systemd/system", unit));
  }
  for (const path of removed) await rm(join(root, path), { force: true });
  const ssh = join(root, "etc/ssh");
  for (const entry of await readdir(ssh)) if (entry.startsWith("ssh_host_")) await rm(join(ssh, entry));
  for (const path of ["etc/apt/apt.conf.d/99mmdebstrap", "etc/hostname", "var/lib/dbus/machine-id"])
    await rm(join(root, path), { force: true });
  await writeFile(join(root, "etc/machine-id"), "");
}

async function present(root: string, units: string[]): Promise<string[]> {
  const found = await Promise.all(units.map((unit) => exists(join(root, "lib/systemd/system", unit))));
  return units.filter((_, i) => found[i]);
}
