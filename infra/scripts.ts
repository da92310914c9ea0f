/** Pieces of bash that several steps share. Pure text; every piece is idempotent. */
import { shellQuote } from "./shell.ts";

/** A here-document with a delimiter that its text does not hold. */
export function heredoc(text: string): string {
  let mark = "END_OF_FILE";
  while (text.includes(mark)) mark += "_";
  return `<<'${mark}'\n${text.endsWith("\n") ? text : `${text}\n`}${mark}`;
}

/**
 * Writes a file whole or not at all, with its mode from the start. Sets `changed=1` when the content differs from what
 * was there.
 */
export function writeFile(path: string, text: string, mode = "0644"): string {
  const target = shellQuote(path);
  return `install -d -m 0755 "$(dirname ${target})"
umask_was=$(umask); umask 077; cat > ${target}.new ${heredoc(text)}
umask "$umask_was"; chmod ${mode} ${target}.new
if cmp -s ${target}.new ${target}; then rm -f ${target}.new; else mv -f ${target}.new ${target}; changed=1; fi`;
}

/** In effect after the mesh is up; a restart of the node brings mesh and server back in that order. */
export const AFTER_MESH = `[Unit]
After=wg-quick@wg0.service
Wants=wg-quick@wg0.service
`;

/**
 * Defines `last_words UNIT LINES`: the end of what a unit's latest start has logged. Earlier attempts, whose reason may be
 * another one, are left out.
 */
export const LAST_WORDS = `last_words() {
  local id; id=$(systemctl show --property=InvocationID --value "$1" 2>/dev/null || true)
  if [ -n "$id" ]; then journalctl "_SYSTEMD_INVOCATION_ID=$id" + "INVOCATION_ID=$id" -n "$2" --no-pager -o cat 2>/dev/null || true
  else journalctl -u "$1" -n "$2" --no-pager -o cat 2>/dev/null || true; fi
}`;
