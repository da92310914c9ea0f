/** A file that appears with its content or not at all, and only if there is none of that name. */
import { linkSync, rmSync, writeFileSync } from "node:fs";

/** What file systems without hard links (FAT, many shared folders) answer to link(2). */
const NO_HARD_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/**
 * True: made; false: there was one. Without hard links the file is created exclusively and then written, so that a
 * reader may for a moment find it empty. `link` stands for link(2).
 */
export function createWhole(
  file: string,
  text: string,
  mode = 0o644,
  link: (existing: string, path: string) => void = linkSync,
): boolean {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, text, { mode });
  try {
    try {
      link(own, file);
    } catch (error) {
      if (!NO_HARD_LINKS.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      writeFileSync(file, text, { flag: "wx", mode });
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}
