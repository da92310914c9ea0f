import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { syntheticResult } from "../../harness/synthetic.ts";
import { resolveSubjects } from "../../report/resolve.ts";
import { saveResult } from "../../report/store.ts";

const host = fileURLToPath(new URL("host.ts", import.meta.url));
let root: string;

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}
const run = (...args: string[]) =>
  new Promise<Outcome>((resolve) => {
    execFile(
      process.execPath,
      [host, ...args],
      { cwd: root, maxBuffer: 64e6, timeout: 60_000 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });

const quick = { threads: [1, 4], repeats: 2, seconds: 5, histograms: false };

before(async () => {
  root = await mkdtemp(join(tmpdir(), "meshbench-cli-"));
  const results = join(root, "results");
  await saveResult(
    results,
    "near",
    syntheticResult({
      ...quick,
      stack: "near",
      runId: "old",
      seed: 1,
      rttMs: 0,
      startedAt: "2026-01-01T00:00:00.000Z",
    }),
  );
  await saveResult(
    results,
    "near",
    syntheticResult({
      ...quick,
      stack: "near",
      runId: "new",
      seed: 2,
      rttMs: 0,
      startedAt: "2026-01-02T00:00:00.000Z",
    }),
  );
  await saveResult(
    results,
    "near",
    syntheticResult({
      ...quick,
      stack: "near",
      runId: "cut",
      seed: 3,
      rttMs: 0,
      startedAt: "2026-01-03T00:00:00.000Z",
      incomplete: "stopped by SIGTERM",
    }),
  );
  await saveResult(results, "far", syntheticResult({ ...quick, stack: "far", runId: "r", seed: 4, rttMs: 10 }));
  await saveResult(
    results,
    "aborted",
    syntheticResult({ ...quick, stack: "aborted", runId: "a", seed: 5, incomplete: "worker 2 died" }),
  );
  await saveResult(results, "bigger", syntheticResult({ ...quick, stack: "bigger", runId: "b", tableSize: 99 }));
  await saveResult(results, "nothing", {
    ...syntheticResult({ ...quick, stack: "nothing", runId: "n", incomplete: "stopped before the first window" }),
    steps: [],
    summary: [],
  });
  await mkdir(join(results, "empty"));
  await writeFile(join(results, "far", "torn.json"), '{"kind": "meshbench-res');
  await saveResult(results, "torn", syntheticResult({ ...quick, stack: "torn", runId: "t" }));
  await writeFile(
    join(results, "torn", "t.json"),
    (await readFile(join(results, "torn", "t.json"), "utf8")).replace(/"tps":[0-9.]+/, '"tps":NaN'),
  );
});
after(() => rm(root, { recursive: true, force: true }));

test("a stack is its newest complete result; a newer incomplete one and a torn file are named", async () => {
  const { code, stdout, stderr } = await run("compare", "near", "far");
  assert.equal(code, 0, stderr);
  assert.match(stdout, /near\/new\.json/);
  assert.match(stderr, /newest run cut is not complete \(stopped by SIGTERM\); new is used/);
  assert.match(stderr, /skipped: .*torn\.json: is not JSON/);
});

test("each bad input is one clear line, exit code 1 and no output file", async () => {
  const cases: [string[], RegExp][] = [
    [["nope", "far"], /^nope: no such stack in results\/ \(there: .*near/],
    [["empty"], /^empty: has no result yet in results\/empty/],
    [["nothing"], /^nothing: holds no measured window \(stopped before the first window\)/],
    [["torn"], /^torn: none of its 1 result files can be read; first: .*t\.json: is not JSON/],
    [["absent.json"], /^absent\.json: there is no such file/],
    [["near", "bigger"], /not the same work[\s\S]*rows per table: near 10000; bigger 99/],
    [["published:000/nowhere"], /there is no such set/],
    [["results/near"], /is a folder/],
    [["near", "--match", "near"], /--match: "near"; expected STACK=SET/],
    [["near", "--match", "near=hybrid"], /--match needs --against/],
    [["near", "--against", "000"], /no stack here is named after a set/],
    [[], /nothing to compare/],
  ];
  for (const [i, [args, expected]] of cases.entries()) {
    // report takes its subjects as compare does: one fault of each kind is enough there.
    for (const command of [0, 4].includes(i) ? ["compare", "report"] : ["compare"]) {
      const out = `out-${command}-${i}.txt`;
      const { code, stdout, stderr } = await run(command, ...args, "--out", out);
      assert.equal(code, 1, `${command} ${args.join(" ")}`);
      const lines = stderr
        .split("\n")
        .filter((l) => !l.startsWith("skipped:") && !l.startsWith("note:"))
        .join("\n");
      assert.match(lines, expected);
      assert.doesNotMatch(stderr, /\n\s+at /);
      assert.equal(stdout, "");
      assert.ok(!(await readdir(root)).some((f) => f.includes(out)), `${out} was left behind`);
    }
  }
});

test("an aborted run is shown and marked; forced work is marked", async () => {
  const aborted = await run("compare", "far", "aborted");
  assert.equal(aborted.code, 0, aborted.stderr);
  assert.match(aborted.stdout, /aborted .* INCOMPLETE: worker 2 died/);
  assert.match((await run("compare", "near", "bigger", "--force")).stdout, /NOT THE SAME WORK/);
});

test("JSON, CSV and Markdown go to the terminal or to a whole file; an unwritable one is said", async () => {
  const json = JSON.parse((await run("compare", "near", "far", "--json")).stdout) as { kind: string; baseline: string };
  assert.deepEqual([json.kind, json.baseline], ["meshbench-comparison", "near"]);
  assert.equal((await run("compare", "near", "far", "--csv", "--out", "c.csv")).code, 0);
  assert.match(await readFile(join(root, "c.csv"), "utf8"), /^workload,threads,subject/);
  assert.match((await run("compare", "near", "far", "--md")).stdout, /^# Comparison/);
  assert.match((await run("compare", "near", "--json", "--csv")).stderr, /exclude one another/);
  assert.match(
    (await run("compare", "near", "--out", "no/such/file")).stderr,
    /cannot be written: the folder no\/such does not exist/,
  );
});

test("report writes one page and says how large it is", async () => {
  const { code, stdout, stderr } = await run(
    "report",
    "near",
    "far",
    "published:000/hybrid",
    "--out",
    "page.html",
    "--title",
    "Two places",
  );
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^page\.html: \d\.\d MB, 3 runs/);
  assert.match(await readFile(join(root, "page.html"), "utf8"), /<title>Two places<\/title>/);
});

test("published lists the sets, their conditions and the judged claims", async () => {
  assert.match((await run("published")).stdout, /001\/3xFra/);
  assert.match((await run("published", "000/hybrid")).stdout, /burstable/);
  assert.match((await run("published", "--claims")).stdout, /contradicted/);
});

test("a stack without a folder is asked for its output; two runs of one stack get labels of their own", async () => {
  const file = join(root, "results", "far", "r.json");
  const { subjects } = await resolveSubjects(["elsewhere", file, file], {
    results: join(root, "results"),
    stackOutput: async (stack) => (stack === "elsewhere" ? file : null),
  });
  assert.equal(subjects[0]!.label, "elsewhere");
  assert.equal(new Set(subjects.map((s) => s.label)).size, 3);
});
