/** A file that is written once: it appears whole or not at all, and what is there already is never overwritten. */
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** kept: the file is new; same: the very text was there before; taken: another text is there and stays. */
export type Kept = "kept" | "same" | "taken";

/**
 * Writes `text` beside the file to be, flushes it and links it to its name, so that of two writers one wins and a crash
 * leaves no half file. Makes the folder when it is missing. Throws the file system's own error; no temporary file
 * stays.
 */
export function keepOnce(folder: string, name: string, text: string): Kept {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name),
    temporary = join(folder, `.${name}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`);
  try {
    const file = openSync(temporary, "wx", 0o644);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    try {
      linkSync(temporary, path);
    } catch (error) {
      // File systems without hard links: exclusive creation still never overwrites, though a crash can leave half a
      // file.
      if (!["EPERM", "ENOTSUP"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      writeFileSync(path, text, { flag: "wx" });
    }
    return "kept";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readFileSync(path, "utf8") === text ? "same" : "taken";
  } finally {
    rmSync(temporary, { force: true });
  }
}
