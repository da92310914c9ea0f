/**
 * The load program as a process: bad input in one line, signals, what a kill leaves behind, and the bundle for a driver
 * node.
 */
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { CLI } from "../../harness/servers/engine.ts";
import { FakeMysql } from "../../harness/servers/fake-mysql.ts";
import { freePort, Mariadb, mariadbPackages, PASSWORD } from "../../harness/servers/mariadb.ts";
import { runResultSchema } from "../../workloads/contract.ts";

const cli = fileURLToPath(CLI);
let directory: string;
let fake: FakeMysql;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), "meshbench-load-"));
  fake = await FakeMysql.start();
});
after(async () => {
  await fake.stop();
  rmSync(directory, { recursive: true, force: true });
});

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

function start(
  args: string[],
  env: Record<string, string> = {},
  program = cli,
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, MESHBENCH_DB_PASSWORD: PASSWORD, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout!.on("data", (chunk) => (out += String(chunk)));
  child.stderr!.on("data", (chunk) => (err += String(chunk)));
  return { child, ended: new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err }))) };
}

async function refused(args: string[], pattern: RegExp, env: Record<string, string> = {}): Promise<void> {
  const { code, out, err } = await start(args, env).ended;
  assert.notEqual(code, 0, `${args.join(" ")} must fail`);
  assert.match(err, pattern);
  assert.doesNotMatch(err + out, /\n\s+at /, "no stack trace");
  assert.ok(err.trim().split("\n").length <= 3, `one clear line: ${err}`);
}

const URL_NOWHERE = "mysql://bench@127.0.0.1:1/sbtest";

test("bad input: one line that names the key, what was given, what is allowed", async () => {
  await refused(["run"], /--url .* or --spec/);
  await refused(["run", "--url", "mysql://bench:geheim@127.0.0.1/x"], /MESHBENCH_DB_PASSWORD/);
  await refused(["run", "--url", "oracle://bench@127.0.0.1/x"], /mysql:\/\/ or postgres:\/\//);
  await refused(
    ["run", "--url", URL_NOWHERE, "--workload", "oltp_readonly"],
    /oltp_readonly.*did you mean oltp_read_only/,
  );
  await refused(
    ["run", "--url", URL_NOWHERE, "--option", "point_select=3"],
    /point_select.*did you mean point_selects/,
  );
  await refused(["run", "--url", URL_NOWHERE, "--option", "point_selects=many"], /point_selects.*"many".*whole number/);
  await refused(["run", "--url", URL_NOWHERE, "--threads", "0"], /--threads.*"0".*from 1/);
  await refused(["run", "--url", URL_NOWHERE, "--threads", "4,x"], /--threads.*"x"/);
  await refused(["run", "--url", URL_NOWHERE, "--tabels", "3"], /--tables/);
  await refused(["run", "--url", URL_NOWHERE, "--tls-ca", "/none.pem"], /--tls-ca.*expected --tls verify/);
  await refused(
    ["run", "--url", URL_NOWHERE, "--tls", "verify", "--tls-ca", "/none.pem"],
    /target\.tls\.caFile: \/none\.pem; expected a readable file \(ENOENT\)/,
  );
  await refused(["run", "--url", URL_NOWHERE], /127\.0\.0\.1:1.*ECONNREFUSED/);
  await refused(["run", "--spec", join(directory, "none.json")], /none\.json.*ENOENT/);
  const spec = join(directory, "bad.json");
  writeFileSync(
    spec,
    JSON.stringify({
      runId: "x",
      target: { driver: "mysql", user: "u", endpoints: [{ name: "a", host: "h", port: 0 }] },
      steps: [{ workload: "oltp_read_only", threads: 0 }],
    }),
  );
  const { err } = await start(["run", "--spec", spec]).ended;
  assert.match(err, /target\.endpoints\[0\]\.port: 0; expected/);
  assert.match(err, /steps\[0\]\.threads: 0; expected/);
  await refused(["run", "--spec", spec, "--time", "5"], /--time: not together with --spec/);
});

test("files that can't be written are told before anything else happens", async () => {
  const nowhere = join(directory, "no", "such", "folder", "x.json");
  for (const command of ["run", "prepare", "verify", "bench"])
    await refused(
      [command, "--url", URL_NOWHERE, "--out", nowhere],
      /^--out: .*x\.json; expected .*folder .* does not exist/,
    );
  await refused(["run", "--url", URL_NOWHERE, "--status", nowhere], /^--status: .*x\.json; expected/);
  await refused(["run", "--url", URL_NOWHERE, "--out", directory], /^--out: .*it is a folder/);
  await refused(["merge", nowhere, "--out", nowhere], /^--out: /);
});

test("help everywhere, and the list of options", async () => {
  for (const args of [
    ["--help"],
    ["run", "--help"],
    ["prepare", "--help"],
    ["verify", "--help"],
    ["cleanup", "--help"],
    ["calibrate", "--help"],
    ["merge", "--help"],
  ]) {
    const { code, out } = await start(args).ended;
    assert.equal(code, 0, args.join(" "));
    assert.match(out, /Usage:/);
  }
  const { out } = await start(["list-options"]).ended;
  for (const name of ["oltp_read_write", "range_size=100", "rand_type=special", "mysql_storage_engine"])
    assert.ok(out.includes(name), name);
});

test("calibrate needs no server", async () => {
  const { code, out } = await start(["calibrate", "--threads", "2", "--time", "0.3", "--json"]).ended;
  assert.equal(code, 0);
  assert.ok((JSON.parse(out) as { statementsPerSecond: number }).statementsPerSecond > 1000);
});

test("one bundled file runs alone, its worker threads included", async () => {
  const bundle = join(directory, "load.mjs");
  await build({
    entryPoints: [cli],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    logLevel: "error",
    external: ["pg-native"],
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
  const packages = await mariadbPackages();
  if (!packages.ok) return assert.match((await start(["--help"], {}, bundle).ended).out, /Usage/);
  const server = await Mariadb.start();
  try {
    const common = ["--url", `mysql://bench@127.0.0.1:${server.port}/sbtest`, "--tables", "2", "--table-size", "1000"];
    assert.equal((await start(["prepare", ...common], {}, bundle).ended).code, 0);
    const out = join(directory, "bundle.json");
    const status = join(directory, "status.json");
    const ran = await start(
      [
        "run",
        ...common,
        "--workload",
        "oltp_read_only",
        "--threads",
        "4",
        "--workers",
        "2",
        "--time",
        "1",
        "--out",
        out,
        "--status",
        status,
      ],
      {},
      bundle,
    ).ended;
    assert.equal(ran.code, 0, ran.err);
    assert.match(
      ran.err,
      /1\/1 \[ 1s \] thds: 4 tps: \d+\.\d\d qps: \d+\.\d\d \(r\/w\/o: [\d./]+\) lat \(ms,95%\): \d+\.\d\d err\/s: 0\.00 reconn\/s: 0\.00/,
    );
    const result = runResultSchema.parse(JSON.parse(readFileSync(out, "utf8")));
    assert.equal(result.complete, true);
    assert.match(result.engine.driverVersion!, /^mysql2 \d+\.\d+\.\d+$/);
    assert.ok(result.steps[0]!.transactions > 0);
    const state = JSON.parse(readFileSync(status, "utf8")) as { phase: string; percent: number };
    assert.deepEqual([state.phase, state.percent], ["done", 100]);
    assert.doesNotMatch(readFileSync(out, "utf8") + ran.err + ran.out, new RegExp(PASSWORD), "the password is nowhere");

    // Bad data and bad credentials are found before the run.
    const elsewhere = common.map((arg) => arg.replace("/sbtest", "/mysql"));
    const noTable = await start(["run", ...elsewhere], {}, bundle).ended;
    assert.notEqual(noTable.code, 0);
    assert.match(noTable.err, /sbtest1/);
    const wrong = await start(["run", ...common], { MESHBENCH_DB_PASSWORD: "wrong" }, bundle).ended;
    assert.notEqual(wrong.code, 0);
    assert.match(wrong.err, /1045/);
    const file = join(directory, "password");
    writeFileSync(file, `${PASSWORD}\n`);
    chmodSync(file, 0o644);
    await refused(["run", ...common, "--password-file", file], /0600/);
    const bigger = await start(["run", ...common.map((arg) => (arg === "1000" ? "5000" : arg))], {}, bundle).ended;
    assert.notEqual(bigger.code, 0);
    assert.match(bigger.err, /1000/);

    // Who reads the progress goes away: the run goes on, and its result is written.
    const unread = join(directory, "unread.json");
    const deaf = start(
      ["run", ...common, "--threads", "2", "--time", "2", "--interval", "0.1", "--out", unread],
      {},
      bundle,
    );
    deaf.child.stderr!.once("data", () =>
      [deaf.child.stderr, deaf.child.stdout].forEach((stream) => stream!.destroy()),
    );
    assert.equal((await deaf.ended).code, 0);
    assert.equal(runResultSchema.parse(JSON.parse(readFileSync(unread, "utf8"))).steps[0]!.intervals.length, 20);

    // Ctrl-C: the result is there, marked incomplete.
    const interrupted = join(directory, "interrupted.json");
    const run = start(["run", ...common, "--threads", "2", "--time", "30", "--out", interrupted], {}, bundle);
    await until(() => existsSync(`${interrupted}.partial`));
    run.child.kill("SIGINT");
    const ended = await run.ended;
    assert.equal(ended.code, 1, ended.err);
    const kept = runResultSchema.parse(JSON.parse(readFileSync(interrupted, "utf8")));
    assert.equal(kept.complete, false);
    assert.match(kept.incompleteReason!, /SIGINT/);
    assert.ok(kept.steps[0]!.transactions > 0 && !existsSync(`${interrupted}.partial`));

    // kill -9: windows that had ended are in the file, the intervals of the one in hand beside it. The first window's
    // own intervals are deleted only after it was saved, so the second's are waited for by their number.
    const killed = join(directory, "killed.json");
    const partial = () => {
      const [line] = existsSync(`${killed}.partial`) ? readFileSync(`${killed}.partial`, "utf8").split("\n") : [];
      return line ? (JSON.parse(line) as { step: number; interval: { tps: number } }) : undefined;
    };
    const victim = start(["run", ...common, "--threads", "1,2", "--time", "2", "--out", killed], {}, bundle);
    await until(() => partial()?.step === 1);
    victim.child.kill("SIGKILL");
    await victim.ended;
    const left = runResultSchema.parse(JSON.parse(readFileSync(killed, "utf8")));
    assert.deepEqual([left.complete, left.steps.length, left.steps[0]!.complete], [false, 1, true]);
    assert.ok(partial()!.interval.tps > 0);
  } finally {
    await server.stop();
  }
});

test("a server that never speaks is given up on, in one line", async () => {
  const { createServer } = await import("node:net");
  const port = await freePort();
  const silent = createServer(() => {}).listen(port, "127.0.0.1");
  try {
    const spec = join(directory, "silent.json");
    writeFileSync(
      spec,
      JSON.stringify({
        runId: "x",
        target: {
          driver: "mysql",
          user: "u",
          connectTimeoutMs: 500,
          endpoints: [{ name: "a", host: "127.0.0.1", port }],
        },
        steps: [{ workload: "oltp_read_only", threads: 1 }],
      }),
    );
    await refused(["run", "--spec", spec], new RegExp(`127\\.0\\.0\\.1:${port}`));
  } finally {
    silent.close();
  }
});

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if (condition()) return;
    await sleep(50);
  }
  throw new Error("it did not come to that within 30 s");
}
