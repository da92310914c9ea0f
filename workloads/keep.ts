/** Files that appear whole or not at all: results, which are written once, and whatever a user names with --out. */
import { randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** kept: the file is new; same: the very text was there before; taken: another text is there and stays. */
export type Kept = "kept" | "same" | "taken";

/** What file systems without hard links (FAT, many shared folders) answer to link(2). */
const NO_HARD_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];
/** A claim (an empty file of that name) whose writer has not followed up within this time was left by a crash. */
const CLAIM_MS = 10_000;

type LinkFile = (existing: string, path: string) => void;

/**
 * Writes `text` beside the file to be, flushes it and links it to its name, so that of two writers one wins and a crash
 * leaves no half file. Makes the folder when it is missing. Throws the file system's own error; no temporary file
 * stays. `link` stands for link(2).
 */
export function keepOnce(folder: string, name: string, text: string, link: LinkFile = linkSync): Kept {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name),
    temporary = draftOf(path);
  try {
    writeDraft(temporary, text, 0o644);
    try {
      link(temporary, path);
    } catch (error) {
      if (!NO_HARD_LINKS.includes(codeOf(error))) throw error;
      claim(path);
      renameSync(temporary, path);
    }
    return "kept";
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return readFileSync(path, "utf8") === text ? "same" : "taken";
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Without hard links, exclusive creation decides between two writers; the winner renames its whole file over the empty
 * one. Throws EEXIST when the name is taken.
 */
function claim(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o644));
  } catch (error) {
    const there = codeOf(error) === "EEXIST" ? statSync(path, { throwIfNoEntry: false }) : undefined;
    if (there === undefined || there.size > 0 || Date.now() - there.mtimeMs < CLAIM_MS) throw error;
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "";

const draftOf = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`);

function writeDraft(draft: string, text: string, mode: number, flush = true): void {
  const file = openSync(draft, "wx", mode);
  try {
    writeFileSync(file, text);
    if (flush) fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Writes what a user asked for with --out. "-" is standard output. A file appears whole or not at all and keeps its
 * mode; a symbolic link stays one and its target is written; devices, pipes and files with several names are written
 * in place. Throws a sentence that names the path; nothing half-written stays. `flush`: until it is on the disk.
 */
export function writeOutput(path: string, text: string, flush = true): void {
  if (path === "-") {
    process.stdout.write(text);
    return;
  }
  try {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    if (there !== undefined && inPlace(path, there)) writeInPlace(path, text, there.isFile());
    else replace(there === undefined ? linkTarget(path) : realpathSync(path), text, there, flush);
  } catch (error) {
    throw new Error(`${path}: cannot be written: ${reason(error, path)}`);
  }
}

/** Throws one line, before a run and not after it, when `writeOutput` could not write there. `flag` names the option. */
export function expectWritable(path: string, flag: string): void {
  if (path === "-") return;
  try {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    const target = there === undefined ? linkTarget(path) : realpathSync(path);
    const folder = dirname(resolve(target));
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error(), { code: "ENOTDIR" });
    if (there !== undefined) accessSync(target, constants.W_OK);
    if (there === undefined || !inPlace(path, there)) accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Error(`${flag}: ${path}; expected a file that can be written: ${reason(error, path)}`);
  }
}

/** What must not be replaced by another file of the same name. */
const inPlace = (path: string, there: Stats): boolean =>
  !there.isFile() || there.nlink > 1 || /^\/(dev|proc)\//.test(resolve(path));

function writeInPlace(path: string, text: string, truncate: boolean): void {
  const file = openSync(path, truncate && !/^\/(dev|proc)\//.test(resolve(path)) ? "w" : "a");
  try {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  } finally {
    closeSync(file);
  }
}

function replace(path: string, text: string, there: Stats | undefined, flush: boolean): void {
  const draft = draftOf(path);
  try {
    writeDraft(draft, text, 0o666, flush);
    if (there !== undefined) chmodSync(draft, there.mode & 0o7777);
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The name that a link to nothing yet stands for; the kernel follows as many links. */
function linkTarget(path: string): string {
  let target = path;
  for (let i = 0; i < 40 && lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink(); i++)
    target = resolve(dirname(target), readlinkSync(target));
  return target;
}

/** Why a file could not be written, in words. */
export function reason(error: unknown, path: string): string {
  switch (codeOf(error)) {
    case "ENOENT":
    case "ENOTDIR":
      return `the folder ${dirname(path)} does not exist`;
    case "EISDIR":
      return "it is a folder";
    case "ENOSPC":
    case "EDQUOT":
      return "no space is left there";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EROFS":
      return "the file system is read-only";
    default:
      return (error as Error).message;
  }
}
