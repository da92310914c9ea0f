/** What a user can get wrong with a study: one sentence, exit code 1, nothing made. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { withLock } from "../../tools/lock.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";
import { openProject } from "../../tools/project.ts";

const dir = mkdtempSync(join(tmpdir(), "meshbench-study-cli-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const results = join(dir, "results");

const meshbench = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    execFile(nodeBinary(), ["cli/main.ts", ...args], { cwd: checkout, timeout: 120_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });
function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}

const HERE =
  "name: cli-test\nconfig: { profile: smoke, proxy: { kind: none } }\ntopologies: { here: { sites: [{ name: a, kind: local, nodes: 1 }], database: { engine: mariadb } } }\n";
const CLOUD = `name: cli-test\nconfig: { operatorCidr: 203.0.113.7/32, proxy: { kind: none }, profile: published-hybrid }
topologies: { aws: { sites: [{ name: aws, kind: aws, region: us-east-1, nodes: 3 }] } }\nlimits: { money: 0.01 }\n`;

test("each mistake is one sentence and leaves no file behind", async () => {
  const here = file("here.yaml", HERE),
    cloud = file("cloud.yaml", CLOUD);
  const cases: [string[], RegExp][] = [
    [["run", join(dir, "gone.yaml")], /gone\.yaml: no such file; studies that come along are in studies\//],
    [["run", file("broken.yaml", "a: [1")], /broken\.yaml: is no valid YAML/],
    [
      ["run", file("circle.yaml", "name: c\ntopologies: { a: { extends: b }, b: { extends: a } }")],
      /topologies: a extends b extends a; expected no circle/,
    ],
    [["run", file("empty.yaml", "")], /empty\.yaml: the document/],
    [["run", here, "--scale", "tiny"], /--scale: "tiny"; expected no such option/],
    [["run", here, "--parallel", "0"], /--parallel: 0; expected a whole number from 1/],
    [["run", here, "--hours", "soon"], /--hours: soon; expected a number/],
    [
      ["run", here, "--hours", "0.001"],
      /cli-test: would exceed the time limit of 0\.001 h: about [\d.]+ h for all legs/,
    ],
    [
      ["run", cloud],
      /cli-test: would exceed the spending limit of 0\.01 USD: about [\d.]+ h and [\d.]+ USD for all legs; raise limits/,
    ],
    [["report", here], /here\.yaml: has not been run with results in/],
  ];
  for (const [args, expected] of cases) {
    const { code, stdout, stderr } = await meshbench("study", ...args, "--results", results);
    assert.equal(code, 1, `${args.join(" ")}\n${stdout}${stderr}`);
    assert.match(stderr, expected);
    assert.doesNotMatch(stderr, /\n\s+at /);
    assert.equal(stdout, "");
    assert.equal(existsSync(results), false, args.join(" "));
  }
});

test("a dry run under a limit that would be broken shows the legs and their price, and why it would not begin", async () => {
  const { code, stdout, stderr } = await meshbench(
    "study",
    "run",
    file("cloud.yaml", CLOUD),
    "--dry-run",
    "--results",
    results,
  );
  assert.equal(code, 1);
  assert.match(stdout, /aws#1 .*aws: 3 aws .*[\d.]+ USD/);
  assert.match(stderr, /would exceed the spending limit/);
  const raised = await meshbench(
    "study",
    "run",
    file("cloud.yaml", CLOUD),
    "--dry-run",
    "--money",
    "100",
    "--results",
    results,
  );
  assert.equal(raised.code, 0, raised.stderr);
  assert.equal(existsSync(results), false);
});

test("a study that another process runs is not begun a second time: both would pull at the same stacks", async () => {
  const said = await withLock(
    join(openProject().private, "study-cli-test.lock"),
    () => meshbench("study", "run", file("here.yaml", HERE), "--results", results),
    () => {},
  );
  assert.equal(said.code, 1);
  assert.match(said.stderr, new RegExp(`cli-test: process ${process.pid} is running a study of this name`));
  assert.equal(existsSync(results), false);
  assert.ok(!readdirSync(openProject().private).includes("study-cli-test.lock"));
});
