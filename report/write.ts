/** Output files appear whole or not at all. */
import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ReportError } from "./errors.ts";

/** Writes beside the target and renames over it. Throws ReportError that names the path when that is not possible. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`);
  try {
    await writeFile(temporary, text, { flag: "wx" });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    const code = (error as NodeJS.ErrnoException).code;
    throw new ReportError(
      `${path}: cannot be written (${code === "ENOENT" ? `the folder ${dirname(path)} does not exist` : (code ?? (error as Error).message)})`,
    );
  }
}
