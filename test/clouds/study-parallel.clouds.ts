/**
 * A study of two legs in two clouds at the same time, on the real engine, with stand-ins for both (moto, fakepve, local
 * nodes in a laboratory for each leg). It proves the study's order of things and that stacks do not disturb each other;
 * not the clouds, and no figure: both legs share this machine's processors. Part of `npm run test:clouds`.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { type Ran, until } from "../../harness/stack.ts";
import { type Moto, startMoto } from "../../standins/pulumi-resource-aws/moto.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";
import { type FakePve, fakePvePython, startFakePve } from "../proxmox/fake-pve.ts";
import { lab, makeNetwork } from "../proxmox/lab.ts";
import { MotoLook } from "./moto-look.ts";

const dir = mkdtempSync(join(tmpdir(), "meshbench-study-parallel-"));
const file = join(dir, "study.yaml"),
  results = join(dir, "results");
const labs = { aws: `sp-aws-${process.pid}`, home: `sp-home-${process.pid}` };
let moto: Moto, aws: MotoLook, pve: FakePve, env: NodeJS.ProcessEnv;

/** The engine finds the stand-in there; each has a laboratory of its own, for both legs have a node called driver. */
function launcher(name: string, laboratory: string): void {
  const path = join(dir, "bin", name);
  mkdirSync(join(dir, "bin"), { recursive: true });
  writeFileSync(
    path,
    `#!/bin/sh\nexport MESHBENCH_STANDIN_LAB='${laboratory}'\nexec '${nodeBinary()}' '${join(checkout, "standins", name, "main.ts")}' "$@"\n`,
  );
  chmodSync(path, 0o755);
}

before(async () => {
  const found = fakePvePython();
  if ("reason" in found) throw new Error(found.reason);
  pve = await startFakePve(found.python);
  moto = await startMoto();
  aws = new MotoLook(moto.url, "eu-central-1");
  makeNetwork(labs.aws, [{ name: "aws", nat: false }]);
  const { home } = makeNetwork(labs.home, [{ name: "home", nat: true }]);
  launcher("pulumi-resource-aws", labs.aws);
  launcher("pulumi-resource-proxmoxve", labs.home);
  env = {
    ...process.env,
    PATH: `${join(dir, "bin")}${delimiter}${process.env["PATH"] ?? ""}`,
    MESHBENCH_STAND_INS: "the AWS plugin for Pulumi; the Proxmox plugin for Pulumi",
    AWS_ENDPOINT_URL: moto.url,
    AWS_ACCESS_KEY_ID: "stand-in",
    AWS_SECRET_ACCESS_KEY: "stand-in",
    AWS_EC2_METADATA_DISABLED: "true",
    NODE_EXTRA_CA_CERTS: pve.caFile,
    SSL_CERT_FILE: pve.caFile,
    PROXMOX_VE_API_TOKEN: pve.token,
  };
  writeFileSync(
    file,
    `
name: par-${process.pid}
config:
  operatorCidr: 203.0.113.7/32
  proxy: { kind: none }
  database: { engine: mariadb }
  driver: { placement: own }
  profile:
    data: { tables: 1, tableSize: 1000 }
    steps: [{ workload: oltp_read_only, threads: 2, warmupSeconds: 0, durationSeconds: 3 }]
topologies:
  aws: { sites: [{ name: aws, kind: aws, region: eu-central-1, nodes: 1 }] }
  home: { sites: [{ name: home, kind: proxmox, nodes: 1, endpoint: "${pve.endpoint}", address: "${home}.100/24", gateway: "${home}.1" }] }
limits: { hours: 2, money: 1 }
`,
  );
});

after(async () => {
  for (const name of Object.values(labs)) lab(["purge", "--lab", name]);
  await moto?.stop();
  await pve?.stop();
  rmSync(dir, { recursive: true, force: true });
});

function study(more: NodeJS.ProcessEnv = {}): { output: () => string; ended: Promise<Ran>; interrupt: () => void } {
  let output = "";
  const child = spawn(nodeBinary(), ["cli/main.ts", "study", "run", file, "--results", results, "--parallel", "2"], {
    cwd: checkout,
    env: { ...env, ...more },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const ended = new Promise<Ran>((resolve) => child.once("close", (code) => resolve({ code: code ?? 137, output })));
  return { output: () => output, ended, interrupt: () => child.kill("SIGINT") };
}

interface Entry {
  at: string;
  event: string;
  leg?: string;
  why?: string;
  money?: number;
}
const folders = (): string[] => readdirSync(join(results, "studies"));
const journal = (): Entry[] =>
  readFileSync(join(results, "studies", folders()[0]!, "journal.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Entry);
const nodes = (name: string): string[] =>
  (
    (JSON.parse(lab(["list", "--json"])) as { lab: string; nodes: { name: string }[] }[]).find(
      (one) => one.lab === name,
    )?.nodes ?? []
  ).map((n) => n.name);
const guests = (): Promise<unknown[]> => pve.call("GET", "/cluster/resources?type=vm");
async function nothingIsLeft(): Promise<void> {
  assert.deepEqual(await aws.leftovers(), []);
  assert.deepEqual(await guests(), []);
  assert.deepEqual([nodes(labs.aws), nodes(labs.home)], [[], []]);
}

test("Ctrl-C while both legs are under way: both are taken down, nothing is done and nothing is lost", async () => {
  const run = study();
  await until("both legs have nodes", 240, async () => nodes(labs.aws).length > 0 && nodes(labs.home).length > 0);
  run.interrupt();
  const { code, output } = await run.ended;
  assert.equal(code, 1, output);
  assert.match(output, /interrupted: what is under way is taken down/);
  assert.match(output, /stopped before the end by interrupted/);
  const events = journal();
  assert.deepEqual(
    events.map((e) => e.event),
    ["begun", "leg-begun", "leg-begun", "leg-failed", "leg-failed"],
  );
  assert.deepEqual(
    events.filter((e) => e.event === "leg-failed").map((e) => e.why),
    ["interrupted", "interrupted"],
  );
  assert.doesNotMatch(output, /destroy failed/);
  await nothingIsLeft();
});

test("one leg fails: the other goes on to its result, and what the failed one made is gone", async () => {
  const { code, output } = await study({ MESHBENCH_STANDIN_NO_CAPACITY: "aws-1" }).ended;
  assert.equal(code, 1, output);
  assert.match(output, /aws#1: FAILED after \d+ s: .*InsufficientInstanceCapacity/);
  assert.match(output, /home#1: done in \d+ s/);
  assert.match(output, /report of 1 legs/);
  const since = journal().slice(5);
  const at = (event: string, leg: string): number => since.findIndex((e) => e.event === event && e.leg === leg);
  assert.ok(
    at("leg-begun", "home#1") < at("leg-failed", "aws#1") && at("leg-failed", "aws#1") < at("leg-done", "home#1"),
    JSON.stringify(since),
  );
  await nothingIsLeft();
});

test("begun anew, both legs stand at the same time and both are measured", async () => {
  rmSync(results, { recursive: true });
  const run = study();
  await until(
    "both legs have all their nodes",
    240,
    async () => nodes(labs.aws).length === 2 && nodes(labs.home).length === 2,
  );
  const { code, output } = await run.ended;
  assert.equal(code, 0, output);
  const events = journal();
  assert.deepEqual(
    events.map((e) => e.event),
    ["begun", "leg-begun", "leg-begun", "leg-done", "leg-done", "ended"],
  );
  assert.match(output, /report of 2 legs/);
  const money = events.find((e) => e.event === "leg-done" && e.leg === "aws#1")!.money!;
  assert.ok(money > 0 && money < 1, `priced by the hour of what stood: ${money}`);
  const page = readFileSync(join(results, "studies", folders()[0]!, "report.html"), "utf8");
  for (const words of ["EC2 instance of aws", "Proxmox guest of home"])
    assert.ok(page.includes(words), `the page says that ${words} was stood in for`);
  await nothingIsLeft();
});
