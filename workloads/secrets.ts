/**
 * The database password never stands in a spec, an argument or a result: it comes from a file or from the environment.
 */
import { readFileSync, statSync } from "node:fs";
import type { Target } from "./contract.ts";

export const PASSWORD_VARIABLE = "MESHBENCH_DB_PASSWORD";

/**
 * The password of `target.user`: the first line of target.passwordFile, else MESHBENCH_DB_PASSWORD, else empty.
 * Throws one line when the file can't be read or others can read it.
 */
export function readPassword(
  target: Pick<Target, "passwordFile">,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const file = target.passwordFile;
  if (file === undefined) return environment[PASSWORD_VARIABLE] ?? "";
  let mode: number;
  let text: string;
  try {
    mode = statSync(file).mode & 0o777;
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(
      `target.passwordFile: ${file} can't be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`,
    );
  }
  if ((mode & 0o077) !== 0) {
    throw new Error(
      `target.passwordFile: ${file} has mode ${mode.toString(8).padStart(4, "0")}, others can read it: it must be 0600 or stricter`,
    );
  }
  // An editor's byte order mark is no part of the password.
  return text.replace(/^\uFEFF/, "").split(/\r?\n/, 1)[0] ?? "";
}
