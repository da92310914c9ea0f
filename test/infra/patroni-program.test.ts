/** The whole program with PostgreSQL under Pulumi's mocks, on local nodes and in AWS: what waits for what, and where secrets are. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { golden } from "./golden.ts";
import type { Mocked, Registered } from "./mocked.ts";

const DATABASE = { engine: "postgresql", replication: "sync", standbys: ["east-2", "west-1"] };

/** What steps print of which the mocks know nothing. */
const PRINTED = {
  "-distance": "80.5\n",
  ...Object.fromEntries(["east-1", "east-2", "west-1", "driver"].map((node) => [`${node}-ready`, "{}"])),
};

function program(sites: object[], more: object = {}): Mocked {
  const ran = spawnSync(process.execPath, [join(import.meta.dirname, "mocked.ts")], {
    input: JSON.stringify({ sites, database: DATABASE, profile: "smoke", preflight: false, ...more }),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, MESHBENCH_MOCKED: JSON.stringify(PRINTED) },
  });
  assert.equal(ran.status, 0, ran.stderr);
  const mocked = JSON.parse(ran.stdout) as Mocked;
  assert.equal(mocked.error, undefined);
  return mocked;
}

/** The steps below the database, each with those that it waits for. */
function steps({ resources }: Mocked): string {
  const own = resources.filter(({ parent }) => parent === "database");
  const names = new Set(own.map(({ name }) => name));
  return own
    .map(({ name, dependsOn }) => `${name}: ${dependsOn.filter((d) => names.has(d)).join(", ") || "-"}`)
    .sort()
    .join("\n");
}

const local = (name: string, nodes: number): object => ({ name, kind: "local", nodes });
const LOCAL = [local("east", 2), local("west", 1)];

test("members of etcd enter one by one, servers after them, what they share last: on local nodes as in AWS", () => {
  golden("patroni-steps.txt", steps(program(LOCAL)));
  const aws = (name: string, nodes: number, region: string): object => ({ name, kind: "aws", region, nodes });
  const cloud = program([aws("east", 2, "us-east-1"), aws("west", 1, "us-west-2")], { operatorCidr: "203.0.113.7/32" });
  golden("patroni-steps.txt", steps(cloud));
});

test("no step's text holds a password; the times are those of the measured distance", () => {
  const { resources } = program(LOCAL);
  const text = (r: Registered): string => JSON.stringify({ ...r.inputs, stdin: undefined });
  for (const r of resources) assert.doesNotMatch(text(r), /SECRET-OF-/, r.name);
  const etcd = resources.find(({ name }) => name === "west-1-etcd")!;
  assert.match(JSON.stringify(etcd.inputs["stdin"]), /ETCD_HEARTBEAT_INTERVAL=150\b/);
  assert.match(JSON.stringify(etcd.inputs["stdin"]), /"secret":.*SECRET-OF-etcd-root-password/);
});
