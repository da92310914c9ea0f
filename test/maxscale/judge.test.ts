/** MaxScale's own judgement on the rendered files, and on which parameters it has. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { type Kind, MAXSCALE_PARAMETERS } from "../../infra/config/maxscale-options.ts";
import { maxscaleConf } from "../../infra/proxies/maxscale-conf.ts";
import { FILES } from "../infra/texts.ts";
import { givenArchive, unpack } from "./archive.ts";

const dir = mkdtempSync(join(tmpdir(), "meshbench-maxscale-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const archive = givenArchive();
let maxscale: ReturnType<typeof unpack>;
before(() => {
  if (archive.ok) {
    chmodSync(dir, 0o755);
    maxscale = unpack(archive.path, dir);
  }
});

function judge(t: TestContext, conf: string): { status: number | null; output: string } | undefined {
  if (!archive.ok) {
    t.skip(archive.reason);
    return undefined;
  }
  if (!maxscale) {
    t.skip("NOT RUN: a package is not unpacked here, only a tree is");
    return undefined;
  }
  const path = join(dir, "test.cnf");
  writeFileSync(path, conf);
  for (const folder of ["data", "cache", "run", "log"]) mkdirSync(join(dir, folder), { recursive: true });
  const ran = spawnSync(
    maxscale.command,
    [
      ...maxscale.args,
      "--config-check",
      "--log=stdout",
      ...(process.getuid?.() === 0 ? ["--user=root"] : []),
      `--config=${path}`,
      `--datadir=${dir}/data`,
      `--cachedir=${dir}/cache`,
      `--piddir=${dir}/run`,
      `--logdir=${dir}/log`,
      `--persistdir=${dir}/data`,
      `--language=${dir}/data`,
      `--module_configdir=${dir}/data`,
    ],
    { encoding: "utf8", env: maxscale.env },
  );
  return { status: ran.status, output: `${ran.stdout}${ran.stderr}` };
}

for (const name of ["maxscale.cnf", "maxscale-tuned.cnf"]) {
  test(`MaxScale takes ${name} without a warning`, (t) => {
    const judged = judge(t, FILES[name]!);
    if (!judged) return;
    assert.equal(judged.status, 0, judged.output);
    assert.doesNotMatch(judged.output, /warning +:|error +:/i, judged.output);
  });
}

const SERVERS = [{ name: "east-1", address: "10.99.0.1" }];
/** What the configuration's check refuses, MaxScale refuses too: the check forbids nothing that would work. */
const REFUSED: [string, Record<string, string>, Record<string, string>][] = [
  ["router_options", {}, { router_options: "master" }],
  ["auto_failover", { auto_failover: "true" }, {}],
  ["failcount", { failcount: "5" }, {}],
  ["a duration without its unit", { monitor_interval: "2000" }, {}],
  ["half a second where whole ones count", { backend_connect_timeout: "500ms" }, {}],
  ["a size with a B", {}, { transaction_replay_max_size: "1MB" }],
  ["a failure mode that there is not", {}, { master_failure_mode: "fail" }],
  ["an unknown name", { monitor_intervall: "2s" }, {}],
];
for (const [what, monitor, service] of REFUSED) {
  test(`MaxScale refuses ${what}`, (t) => {
    const judged = judge(t, maxscaleConf({ bind: "10.99.0.14", servers: SERVERS, monitor, service }));
    if (judged) assert.notEqual(judged.status, 0, judged.output);
  });
}

test("MaxScale knows every parameter that the configuration's check lets through", (t) => {
  const values: Record<string, string> = {
    bool: "false",
    count: "1",
    seconds: "5s",
    milliseconds: "2000ms",
    size: "1Mi",
    text: "",
  };
  // A text has a form of its own each: none is given, the name alone is what is asked about.
  const filled = (kinds: Record<string, Kind>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(kinds).map(([name, kind]) => [name, typeof kind === "string" ? values[kind]! : kind[0]!]),
    );
  const judged = judge(
    t,
    maxscaleConf({
      bind: "10.99.0.14",
      servers: SERVERS,
      monitor: filled(MAXSCALE_PARAMETERS.monitor),
      service: filled(MAXSCALE_PARAMETERS.service),
    }),
  );
  if (judged) assert.doesNotMatch(judged.output, /unrecognized|unknown/i, judged.output);
});
