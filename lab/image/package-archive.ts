/**
 * A package archive in a folder: nodes reach none on the network. It stands in for Debian's mirror, with the packages that
 * this machine's own sources serve, and what those need beyond a given system.
 */
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { LabError, progress, run, tryRun } from "../run.ts";
import { type Debian, machineSources } from "./mirror.ts";

const DOWNLOAD_LIMIT_MS = 10 * 60_000;

/** Folder of the archive that belongs to a bare image; other images have none. */
export const archiveOf = (root: string): string => join(dirname(root), "archive");

/** One stanza of a Packages file. */
export const stanza = (control: string, file: string, size: number, sha256: string): string =>
  `${control.trimEnd()}\nFilename: ./${file}\nSize: ${size}\nSHA256: ${sha256}\n`;

/**
 * Downloads the packages, and all that they need and `root` has not installed, and writes the index that apt reads.
 * @throws LabError with apt's own words.
 */
export async function makeArchive(target: string, root: string, debian: Debian, packages: string[]): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "meshbench-archive-"));
  try {
    for (const folder of ["state/lists/partial", "cache/archives/partial"])
      await mkdir(join(work, folder), { recursive: true });
    await writeFile(join(work, "sources.list"), `${(await machineSources(debian)).join("\n")}\n`);
    const options = [
      `Dir::State=${work}/state`,
      `Dir::State::status=${root}/var/lib/dpkg/status`,
      `Dir::Cache=${work}/cache`,
      `Dir::Etc::SourceList=${work}/sources.list`,
      "Dir::Etc::SourceParts=/dev/null",
      "Dir::Etc::Preferences=/dev/null",
      "Dir::Etc::PreferencesParts=/dev/null",
      "APT::Sandbox::User=root",
      "Acquire::Retries=3",
      "Debug::NoLocking=true",
    ].flatMap((option) => ["-o", option]);
    progress(`package archive: ${packages.length} packages and what they need`);
    await apt([...options, "update"]);
    await apt([...options, "install", "--download-only", "--yes", "--no-install-recommends", ...packages]);
    const downloads = join(work, "cache/archives");
    const debs = (await readdir(downloads)).filter((name) => name.endsWith(".deb")).sort();
    await mkdir(target, { recursive: true });
    const stanzas: string[] = [];
    for (const name of debs) {
      // A version's epoch comes with an encoded colon, which apt would decode once more.
      const file = name.replaceAll("%3a", "-");
      await copyFile(join(downloads, name), join(target, file));
      await chmod(join(target, file), 0o644);
      const bytes = await readFile(join(target, file));
      const control = await run("dpkg-deb", ["--field", join(target, file)]);
      stanzas.push(stanza(control, file, bytes.length, createHash("sha256").update(bytes).digest("hex")));
    }
    await writeFile(join(target, "Packages"), stanzas.join("\n"));
    await chmod(join(target, "Packages"), 0o644);
    await chmod(target, 0o755);
    progress(`package archive: ${debs.length} files`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function apt(args: string[]): Promise<void> {
  const { code, stdout, stderr } = await tryRun("apt-get", ["-q", ...args], { timeoutMs: DOWNLOAD_LIMIT_MS });
  if (code === 0) return;
  const words = `${stderr}\n${stdout}`.split("\n").filter((line) => /^(E|Err|W):/.test(line));
  throw new LabError(
    `the package archive can't be made: ${words.slice(0, 2).join("; ") || `apt-get ended with code ${code}`}`,
  );
}
