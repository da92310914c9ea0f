/** How a script reaches a root shell. Pure, and free of Pulumi: programs of their own use it too. */

/** Of a step that says nothing else, seconds. Far above what any takes: it is there so that nothing waits for ever. */
const STEP_TIMEOUT = 1800;

/**
 * The command line for a step, and what goes into its stdin: the script first, then the step's own input. An error of
 * the command provider prints the command line whole, so it is kept to a line that says which step failed. A step that
 * does not end in time is ended with all that it started, and says so.
 */
export function asRoot(
  name: string,
  script: string,
  sudo: boolean,
  input = "",
  timeoutSeconds = STEP_TIMEOUT,
): { command: string; stdin: string } {
  const text = `set -euo pipefail\n${script}\n`;
  // One pair of single quotes and nothing outside of them but words: a login shell that is none of the POSIX family (fish,
  // csh) takes it as it stands. sudo -n: without a password or not at all, since nobody is there to type one.
  const inner = `timeout -k 10 ${timeoutSeconds} bash -c "eval \\"\\$(head -c ${Buffer.byteLength(text)})\\"" ${name} || { e=$?; [ $e -ne 124 ] || echo "${name} did not end within ${timeoutSeconds} s" >&2; exit $e; }`;
  return { command: `${sudo ? "sudo -n " : ""}bash -c '${inner}'`, stdin: text + input };
}

export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
