import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ensurePackages } from "../../harness/servers/debian.ts";
import { GOLDEN_DIR, golden } from "./golden.ts";
import { FILES, PROGRAMS, SCRIPTS } from "./texts.ts";

const dir = mkdtempSync(join(tmpdir(), "meshbench-texts-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const ALL = { ...FILES, ...SCRIPTS, ...PROGRAMS };

for (const [name, text] of Object.entries(ALL)) test(`${name} is what it was`, () => golden(`node/${name}`, text));

test("no golden file is left over", () => {
  assert.deepEqual(readdirSync(join(GOLDEN_DIR, "node")).sort(), Object.keys(ALL).sort());
});

for (const [name, text] of Object.entries({ ...SCRIPTS, ...PROGRAMS })) {
  test(`${name} is bash`, () => {
    const checked = spawnSync("bash", ["-n"], { input: text, encoding: "utf8" });
    assert.equal(checked.stderr, "");
    assert.equal(checked.status, 0);
  });
  test(`${name} writes no secret into an argument`, () => {
    // A password may stand in a here-document or after a builtin, never in the arguments of a program.
    for (const line of text.split("\n").filter((l) => /\$\{?\w*password/.test(l)))
      assert.match(
        line,
        /^(conf=|\(umask 077; printf|CREATE USER|ALTER USER|ALTER ROLE|CHANGE MASTER|CHANGE REPLICATION SOURCE)/,
        line,
      );
  });
}

test("shellcheck finds no error in any script", async (t) => {
  const packages = await ensurePackages(["shellcheck"]);
  if (!packages.ok) return t.skip(`shellcheck cannot be had: ${packages.reason}`);
  const paths = Object.entries({ ...SCRIPTS, ...PROGRAMS }).map(([name, text]) => {
    const path = join(dir, name);
    writeFileSync(path, text.startsWith("#!") ? text : `#!/bin/bash\nset -euo pipefail\n${text}\n`);
    return path;
  });
  const checked = spawnSync(
    "shellcheck",
    ["--severity=warning", "--exclude=SC2034,SC1091,SC2043,SC1010", "--format=gcc", ...paths],
    { encoding: "utf8" },
  );
  assert.equal(checked.stdout.replaceAll(`${dir}/`, ""), "");
  assert.equal(checked.status, 0, checked.stderr);
});
