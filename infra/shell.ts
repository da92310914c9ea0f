/** How a script reaches a root shell. Pure, and free of Pulumi: programs of their own use it too. */

/**
 * The command line for a step, and what goes into its stdin: the script first, then the step's own input. An error of the
 * command provider prints the command line whole, so it is kept to a line that says which step failed.
 */
export function asRoot(name: string, script: string, sudo: boolean, input = ""): { command: string; stdin: string } {
  const text = `set -euo pipefail\n${script}\n`;
  return { command: `${sudo ? "sudo " : ""}bash -c 'eval "$(head -c ${Buffer.byteLength(text)})"' ${name}`, stdin: text + input };
}

export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
