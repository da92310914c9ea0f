/** When a stack counts as a leftover, by the date command of Linux and by that of macOS. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";
import { expiryScript } from "../../infra/identity/identity.ts";

const folder = mkdtempSync(join(tmpdir(), "meshbench-date-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (path: string): { status: number | null; stdout: string; stderr: string } =>
  spawnSync("/bin/sh", ["-c", expiryScript(24)], { encoding: "utf8", env: { PATH: path } });

/** Within a minute of 24 hours from now. */
function isTomorrow(text: string): void {
  assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$/);
  assert.ok(Math.abs(Date.parse(text.trim()) - Date.now() - 86_400_000) < 60_000, text);
}

test("with GNU's date", () => {
  isTomorrow(run(process.env["PATH"] ?? "").stdout);
});

test("with the date of macOS, which knows -v +24H and no -d with a distance", () => {
  // What BSD's date answers to an option of GNU's; -v is worked out by the real one.
  const real = spawnSync("/bin/sh", ["-c", "command -v date"], { encoding: "utf8" }).stdout.trim();
  writeFileSync(
    join(folder, "date"),
    `#!/bin/sh
case "$2" in
  -d) echo "date: illegal time format" >&2; exit 1 ;;
  -v+*H) hours=\${2#-v+}; exec ${real} -u -d "+\${hours%H} hours" "$3" ;;
  *) exit 64 ;;
esac
`,
  );
  chmodSync(join(folder, "date"), 0o755);
  const { stdout, stderr } = run(`${folder}${delimiter}${process.env["PATH"]}`);
  assert.equal(stderr, "");
  isTomorrow(stdout);
});
