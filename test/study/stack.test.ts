/** A leg's stack, with a program in the engine's place that says and does what the test wants. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { cellsOf, parseStudy } from "../../cli/study/file.ts";
import { lastError } from "../../cli/study/stack.ts";
import { neededVersion } from "../../tools/engine/engine.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";

const DIAGNOSTICS = (printed: string): string => `
Diagnostics:
  pulumi:pulumi:Stack (meshbench-study):
    error: update failed

  command:remote:Command (cloud-1-galera):
    error: Process exited with status 1: running "bash -s":
${printed
  .split("\n")
  .map((l) => `    ${l}`)
  .join("\n")}

Resources:
    + 40 created
`;

test("of a failed step its own reason is told, not its progress and not the log behind it", () => {
  const told = (printed: string): string => lastError(DIAGNOSTICS(printed));
  assert.equal(
    told(
      "cloud-1: founding the cluster\ncloud-1: the first node did not start: no space left on device\nInnoDB: Error\nmariadb.service: Failed with result 'exit-code'.\n2026 log",
    ),
    "cloud-1: the first node did not start: no space left on device",
  );
  assert.equal(told("cloud-1: founding the cluster"), "cloud-1: founding the cluster");
  assert.equal(told("one\ntwo"), "two");
  assert.equal(told("a: one\r\na: two\r"), "a: two");
  assert.equal(lastError("error: meshbench:sites is missing"), "meshbench:sites is missing");
  assert.equal(lastError("    error: update failed\n    error: exit status 3\n"), "exit status 3");
});

/** A `pulumi` on PATH that notes how it is called and fails at `up`. */
function study(dir: string, ...options: string[]) {
  const calls = join(dir, "calls");
  writeFileSync(calls, "");
  writeFileSync(
    join(dir, "pulumi"),
    `#!/bin/sh
case "$1" in
  version) echo v${neededVersion()} ;;
  up) echo "$*" >>"${calls}"; printf '%s' '${DIAGNOSTICS("a-1: working\na-1: it broke")}'; exit 255 ;;
  *) echo "$*" >>"${calls}"; [ "$1 $2" = "stack ls" ] && echo '[]'; exit 0 ;;
esac
`,
  );
  chmodSync(join(dir, "pulumi"), 0o755);
  const file = join(dir, "s.yaml");
  writeFileSync(
    file,
    "name: keep-test\nconfig: { profile: smoke, proxy: { kind: none } }\ntopologies: { here: { sites: [{ name: a, kind: local, nodes: 1 }], database: { engine: mariadb } } }\n",
  );
  const ran = spawnSync(
    nodeBinary(),
    ["cli/main.ts", "study", "run", file, "--results", join(dir, "results"), ...options],
    {
      cwd: checkout,
      encoding: "utf8",
      timeout: 120_000,
      env: {
        ...process.env,
        PATH: `${dir}${delimiter}${process.env["PATH"]}`,
        PULUMI_BACKEND_URL: `file://${dir}`,
        PULUMI_CONFIG_PASSPHRASE: "x",
      },
    },
  );
  return { ...ran, calls: readFileSync(calls, "utf8").split("\n").filter(Boolean) };
}

test("a failed leg is taken down, and left up with --keep-on-failure, with the command that takes it away", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "meshbench-keep-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  t.after(() => rmSync(join(checkout, ".meshbench/project/Pulumi.study-keep-test-here.yaml"), { force: true }));
  const destroyed = (calls: string[]): boolean => calls.some((c) => /^destroy .*--stack study-keep-test-here$/.test(c));
  const gone = study(dir);
  assert.equal(gone.status, 1, gone.stderr);
  assert.ok(destroyed(gone.calls), gone.calls.join("\n"));
  assert.match(gone.stderr, /failed: here#1: up failed: a-1: it broke\n/);
  const kept = study(dir, "--keep-on-failure", "--fresh");
  assert.equal(kept.status, 1, kept.stderr);
  assert.ok(kept.calls.some((c) => c.startsWith("up ")));
  assert.ok(!destroyed(kept.calls), kept.calls.join("\n"));
  assert.match(kept.stderr, /left up to look at: npm run pulumi -- destroy -s study-keep-test-here\n/);
});

test("a study file with BOM, CRLF and anchors is read, its words as they stand", () => {
  const text = `\uFEFFname: forms
config: &base { profile: smoke, proxy: { kind: none } }
topologies:
  here: { sites: [{ name: a, kind: local, nodes: 1 }], database: { engine: mariadb, variables: { a_b: on, c_d: 22:30 } } }
profiles:
  one: { <<: *base }
`.replaceAll("\n", "\r\n");
  const [cell] = cellsOf(parseStudy(text, "s.yaml"), undefined, () => ({}));
  assert.deepEqual(cell!.config.database.variables, { a_b: "on", c_d: "22:30" });
});
