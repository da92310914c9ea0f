/** A study on local nodes: killed after its first leg, taken up again, reported. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { until } from "../../harness/stack.ts";
import { labName } from "../../infra/sites/lab-name.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";

const dir = mkdtempSync(join(tmpdir(), "meshbench-study-"));
const file = join(dir, "study.yaml"),
  results = join(dir, "results");
const stacks = ["study-e2e-study-one", "study-e2e-study-two", "study-e2e-broken-only"];
const lab = (...args: string[]): string =>
  execFileSync(nodeBinary(), ["lab/cli.ts", ...args], {
    cwd: checkout,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
after(() => {
  for (const stack of stacks) lab("purge", "--lab", labName(stack, checkout));
  rmSync(dir, { recursive: true, force: true });
});

writeFileSync(
  file,
  `
name: e2e-study
config:
  proxy: { kind: none }
  database: { engine: mariadb }
  profile:
    data: { tables: 1, tableSize: 1000 }
    steps: [{ workload: oltp_read_only, threads: 2, warmupSeconds: 0, durationSeconds: 2 }]
topologies:
  one: { sites: [{ name: a, kind: local, nodes: 1 }] }
  two: { sites: [{ name: a, kind: local, nodes: 1 }, { name: b, kind: local, nodes: 0 }], links: [{ between: [a, b], rttMs: 10 }], driver: { site: b } }
`,
);

function study(...args: string[]): Running {
  return studyOf(file, ...args);
}

interface Running {
  pid: number;
  output: () => string;
  ended: Promise<number>;
  kill: () => void;
}

function studyOf(file: string, ...args: string[]): Running {
  let output = "";
  const child = spawn(nodeBinary(), ["cli/main.ts", "study", "run", file, "--results", results, ...args], {
    cwd: checkout,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 137)));
  return {
    pid: child.pid!,
    output: () => output,
    ended,
    kill: () => {
      process.kill(-child.pid!, "SIGKILL");
    },
  };
}

test("a dry run lists the legs and makes nothing", async () => {
  const run = study("--dry-run");
  assert.equal(await run.ended, 0, run.output());
  assert.match(run.output(), /one#1/);
  assert.match(run.output(), /2 legs/);
  assert.ok(!existsSync(results));
});

test("a study beyond its limits does not begin", async () => {
  const run = study("--hours", "0.001");
  assert.equal(await run.ended, 1);
  assert.match(run.output(), /would exceed the time limit of 0.001 h/);
  assert.ok(!existsSync(join(results, "studies")));
});

test("killed during its second leg, the study goes on where it was and reports both", async () => {
  const first = study();
  await until("the second leg is under way", 240, () => /leg 2 of 2, two#1: up/.test(first.output()));
  await until("its nodes are there", 60, () => lab("list").includes(labName(stacks[1]!, checkout)));
  first.kill();
  await first.ended;

  const second = study();
  assert.equal(await second.ended, 0, second.output());
  assert.match(second.output(), /leg 1 of 2, one#1: done before, kept/);
  assert.match(second.output(), /leg 2 of 2, two#1: done in/);
  const folder = join(results, "studies", readdirSync(join(results, "studies"))[0]!);
  assert.equal(readdirSync(join(results, "studies")).length, 1);
  const page = readFileSync(join(folder, "report.html"), "utf8");
  assert.match(page, /oltp_read_only/);
  for (const stack of stacks.slice(0, 2)) {
    assert.equal(readdirSync(join(results, stack)).length, 1, "each leg has one result");
    assert.deepEqual(
      Object.values(
        JSON.parse(lab("leftovers", "--lab", labName(stack, checkout), "--json")) as Record<string, unknown[]>,
      ).flat(),
      [],
    );
  }
});

test("a failed leg is taken down, or left up to look at where that is asked for", async () => {
  const broken = join(dir, "broken.yaml"),
    lost = stacks[2]!;
  writeFileSync(
    broken,
    `
name: e2e-broken
config:
  proxy: { kind: none }
  database: { engine: mariadb, variables: { no_such_variable: "1" } }
  profile:
    data: { tables: 1, tableSize: 1000 }
    steps: [{ workload: oltp_read_only, threads: 1, warmupSeconds: 0, durationSeconds: 1 }]
topologies:
  only: { sites: [{ name: a, kind: local, nodes: 1 }] }
`,
  );
  const left = (): unknown[] =>
    Object.values(
      JSON.parse(lab("leftovers", "--lab", labName(lost, checkout), "--json")) as Record<string, unknown[]>,
    ).flat();
  const gone = studyOf(broken);
  assert.equal(await gone.ended, 1, gone.output());
  assert.match(gone.output(), /only#1.*up failed: .*mariadb did not start: .*no_such_variable/);
  assert.deepEqual(left(), []);

  const kept = studyOf(broken, "--keep-on-failure");
  assert.equal(await kept.ended, 1, kept.output());
  assert.match(kept.output(), new RegExp(`left up to look at: npm run pulumi -- destroy -s ${lost}`));
  assert.match(lab("list"), new RegExp(labName(lost, checkout)));
  execFileSync(nodeBinary(), ["tools/pulumi.ts", "destroy", "--yes", "-s", lost], { cwd: checkout, stdio: "ignore" });
  execFileSync(nodeBinary(), ["tools/pulumi.ts", "stack", "rm", "--yes", "-s", lost], {
    cwd: checkout,
    stdio: "ignore",
  });
  assert.deepEqual(left(), []);
});
