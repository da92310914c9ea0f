/** The whole program under Pulumi's mocks: which resources there are, in which order, and where secrets are. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { checkout } from "../../tools/paths.ts";
import { golden } from "./golden.ts";
import type { Mocked, Registered } from "./mocked.ts";

const results = new Map<string, Mocked>();
/** One process per configuration; the same one is run once. */
function program(raw: Record<string, unknown>): Mocked {
  const input = JSON.stringify(raw);
  const known = results.get(input);
  if (known) return known;
  const ran = spawnSync(process.execPath, [join(import.meta.dirname, "mocked.ts")], {
    input,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.equal(ran.status, 0, ran.stderr);
  const mocked = JSON.parse(ran.stdout) as Mocked;
  results.set(input, mocked);
  return mocked;
}

const site = (name: string, nodes: number): Record<string, unknown> => ({ name, kind: "local", nodes });
const TWO = {
  sites: [site("east", 2), site("west", 1)],
  links: [{ between: ["east", "west"], rttMs: 10 }],
  profile: "smoke",
};
const names = ({ resources }: Mocked): string[] => resources.map((r) => r.name).sort();
const of = ({ resources }: Mocked, name: string): Registered => {
  const found = resources.filter((r) => r.name === name);
  assert.equal(found.length, 1, `${name} is there once`);
  return found[0]!;
};
const triggers = (r: Registered): string => JSON.stringify(r.inputs["triggers"] ?? null);

test("every resource with its parent and what it waits for", () => {
  const mocked = program(TWO);
  assert.equal(mocked.error, undefined);
  const lines = mocked.resources.map(
    (r) =>
      `${r.parent === "" ? "" : `${r.parent} > `}${r.name}: ${r.type}${r.dependsOn.length === 0 ? "" : `\n  after ${r.dependsOn.join(", ")}`}`,
  );
  golden("resources.txt", lines.sort().join("\n"));
});

test("no input of a resource says where the checkout is: from another folder nothing runs again", () => {
  for (const { name, inputs } of program(TWO).resources)
    assert.ok(!JSON.stringify(inputs).includes(checkout), `${name}: ${JSON.stringify(inputs).slice(0, 300)}`);
});

test("the first node is founded before any other joins, the others come in one by one, settings go from node to node", () => {
  const mocked = program(TWO);
  const waitsFor = (name: string): string[] => of(mocked, name).dependsOn.filter((d) => /-galera(-enter)?$/.test(d));
  assert.deepEqual(waitsFor("east-1-galera-enter"), []);
  assert.deepEqual(waitsFor("east-2-galera-enter"), ["east-1-galera"], "what is joined is in service");
  assert.deepEqual(
    waitsFor("west-1-galera-enter"),
    ["east-2-galera-enter"],
    "one knocks when the one before is in, and does not wait for its state transfer",
  );
  for (const node of ["east-1", "east-2", "west-1"])
    assert.deepEqual(waitsFor(`${node}-galera`), [`${node}-galera-enter`]);
  assert.match(JSON.stringify(of(mocked, "east-1-galera-enter").inputs), /galera_new_cluster/);
  for (const joiner of ["east-2", "west-1"])
    assert.match(
      JSON.stringify(of(mocked, `${joiner}-galera-enter`).inputs),
      /if false; then/,
      "a joiner never founds",
    );
  assert.ok(of(mocked, "east-2-settings").dependsOn.includes("east-1-settings"));
  assert.ok(of(mocked, "west-1-settings").dependsOn.includes("east-2-settings"));
});

test("the database waits for the whole mesh, the proxy for the database, the load for all of them", () => {
  const mocked = program(TWO);
  for (const node of ["east-1", "east-2", "west-1"])
    for (const other of ["east-1", "east-2", "west-1", "driver"])
      assert.ok(of(mocked, `${node}-mariadb-conf`).dependsOn.includes(`${other}-wg-ready`));
  assert.ok(of(mocked, "haproxy").dependsOn.includes("database-ready"));
  for (const before of ["database-ready", "haproxy", "driver-throughput"])
    assert.ok(of(mocked, "run-spec").dependsOn.includes(before));
  assert.deepEqual(
    of(mocked, "run").dependsOn.filter((d) => d.startsWith("run") || d === "driver-runtime"),
    ["driver-runtime", "run-spec"],
  );
});

test("two throughput tests never run at once", () => {
  const flows = program(TWO).resources.filter((r) => r.name.endsWith("-throughput"));
  for (const [i, flow] of flows.entries()) if (i > 0) assert.ok(flow.dependsOn.includes(flows[i - 1]!.name));
});

test("nothing waits for what comes after it", () => {
  for (const mocked of [program(TWO), program({ ...TWO, proxy: { kind: "maxscale" } })]) {
    const byName = new Map(mocked.resources.map((r) => [r.name, r]));
    const open = new Set<string>(),
      done = new Set<string>();
    const visit = (name: string): void => {
      if (done.has(name)) return;
      assert.ok(!open.has(name), `${name} waits for itself`);
      open.add(name);
      for (const d of byName.get(name)?.dependsOn ?? []) visit(d);
      open.delete(name);
      done.add(name);
    };
    for (const name of byName.keys()) visit(name);
  }
});

test("what runs on a node vanishes with it, so that a destroy asks no node that is gone", () => {
  for (const r of program(TWO).resources.filter((r) => r.type === "command:remote:Command")) {
    const node = r.deletedWith.replace(/^local-/, "");
    assert.ok(r.dependsOn.includes(r.deletedWith), `${r.name} stands on ${node}`);
    assert.ok(r.name.startsWith(`${node}-`) || ["database-ready", "haproxy", "run-spec"].includes(r.name), r.name);
    assert.equal("delete" in r.inputs, false, `${r.name} does nothing when it is deleted`);
  }
});

/** Every text of a value, with whether it stands inside a secret. */
function texts(value: unknown, secret = false): { text: string; secret: boolean }[] {
  if (typeof value === "string") return [{ text: value, secret }];
  if (Array.isArray(value)) return value.flatMap((v) => texts(v, secret));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([k, v]) => texts(v, secret || k === "secret"));
}

for (const kind of ["haproxy", "maxscale"]) {
  test(`with ${kind}: every secret is marked as one, in every input of every resource, and none is given out`, () => {
    const mocked = program({ ...TWO, proxy: { kind } });
    let seen = 0;
    for (const r of mocked.resources) {
      assert.doesNotMatch(r.name, /SECRET-OF|PRIVATE-KEY/);
      for (const { text, secret } of texts(r.inputs)) {
        if (!/SECRET-OF|PRIVATE-KEY/.test(text)) continue;
        seen++;
        assert.ok(secret, `${r.name} holds a secret in clear: ${text.slice(0, 80)}`);
      }
    }
    assert.ok(seen > 5, "the secrets do reach the resources that need them");
    assert.doesNotMatch(JSON.stringify(mocked.outputs), /SECRET-OF|PRIVATE-KEY/);
    for (const name of [
      "operator-key",
      "database-password",
      ...(kind === "maxscale" ? ["maxscale-monitor-password", "maxscale-service-password"] : []),
    ])
      assert.deepEqual(of(mocked, name).secretOutputs, ["stdout", "stderr"], `${name} is made secret at its source`);
  });
}

test("secrets that are made once are never made anew by a change of the script that makes them", () => {
  for (const name of ["operator-key", "database-password"])
    assert.ok(of(program(TWO), name).ignoreChanges.includes("create"));
});

test("no Output was pasted into a text", () => {
  for (const mocked of [program(TWO), program({ ...TWO, proxy: { kind: "maxscale" } })])
    assert.doesNotMatch(
      JSON.stringify([mocked.resources, mocked.outputs]),
      /Calling \[toString\]|\[object Object\]|Output<|\[Function/,
    );
});

test("a node more adds that node's resources and touches the triggers of no other but the run's", () => {
  const before = program(TWO),
    after = program({ ...TWO, sites: [site("east", 3), site("west", 1)] });
  const added = names(after).filter((n) => !names(before).includes(n));
  assert.deepEqual(
    names(before).filter((n) => !names(after).includes(n)),
    [],
    "nothing is taken away",
  );
  assert.ok(
    added.every((n) => n === "local-east-3" || n.startsWith("east-3-")),
    added.join(" "),
  );
  assert.ok(added.includes("east-3-galera"));
  for (const r of before.resources) {
    if (/-(rtt|throughput)$|^run(-spec)?$/.test(r.name)) continue;
    assert.equal(triggers(of(after, r.name)), triggers(r), `${r.name} is not replaced`);
  }
  for (const node of ["local-east-1", "local-west-1", "local-driver"])
    assert.deepEqual(of(after, node).inputs, of(before, node).inputs, `${node} is the node that it was`);
  assert.match(
    JSON.stringify(of(after, "east-1-galera-enter").inputs),
    /! was_member && ! peer_up/,
    "the founder founds no second time",
  );
});

test("a driver more is that node, and no other is made anew; all drivers get program, spec and password, one program collects", () => {
  const raw = { ...TWO, proxy: { placement: "own" } };
  const before = program(raw),
    after = program({ ...raw, driver: { nodes: 2 } });
  assert.equal(after.error, undefined);
  assert.deepEqual(
    names(before).filter((n) => !names(after).includes(n)),
    [],
    "nothing is taken away",
  );
  const added = names(after).filter((n) => !names(before).includes(n));
  assert.ok(
    added.every((n) => n === "local-driver-2" || n.startsWith("driver-2-")),
    added.join(" "),
  );
  for (const n of ["driver-2-wg-ready", "driver-2-runtime", "driver-2-run-spec"]) assert.ok(added.includes(n), n);
  for (const r of before.resources) {
    if (/-(rtt|throughput)$|^run(-spec)?$/.test(r.name)) continue;
    assert.equal(triggers(of(after, r.name)), triggers(r), `${r.name} is not replaced`);
  }
  for (const node of ["local-east-1", "local-west-1", "local-driver", "local-proxy"])
    assert.deepEqual(of(after, node).inputs, of(before, node).inputs, `${node} is the node that it was`);
  for (const n of ["driver-runtime", "driver-2-runtime", "run-spec", "driver-2-run-spec"])
    assert.ok(of(after, "run").dependsOn.includes(n), n);
  assert.equal(of(after, "driver-2-run-spec").deletedWith, "local-driver-2");
  for (const before of ["database-ready", "haproxy", "driver-2-throughput"])
    assert.ok(of(after, "driver-2-run-spec").dependsOn.includes(before));
  const told = (name: string): string => JSON.stringify(of(after, name).inputs["stdin"]);
  for (const [name, index] of [
    ["run-spec", 0],
    ["driver-2-run-spec", 1],
  ] as const) {
    assert.match(told(name), new RegExp(String.raw`drivers\\*":\{\\*"index\\*":${index},\\*"count\\*":2`));
    assert.match(told(name), /SECRET-OF-database-password/);
  }
});

test("another run id runs the load again and nothing else", () => {
  const before = program({ ...TWO, runId: "one" }),
    after = program({ ...TWO, runId: "two" });
  assert.deepEqual(names(after), names(before));
  const changed = before.resources
    .filter((r) => JSON.stringify(of(after, r.name).inputs) !== JSON.stringify(r.inputs))
    .map((r) => r.name)
    .sort();
  assert.ok(changed.includes("run") && changed.includes("run-spec"));
  assert.deepEqual(
    changed.filter((n) => !/-(rtt|throughput)$|^run(-spec)?$/.test(n)),
    [],
  );
});

test("another workload for as many threads runs the load again and touches nothing of nodes, mesh, database or proxy", () => {
  const before = program(TWO),
    after = program({
      ...TWO,
      profile: { data: { tables: 2, tableSize: 500 }, steps: [{ workload: "oltp_point_select", threads: [1, 2] }] },
    });
  assert.deepEqual(names(after), names(before));
  const changed = before.resources
    .filter((r) => JSON.stringify(of(after, r.name).inputs) !== JSON.stringify(r.inputs))
    .map((r) => r.name)
    .sort();
  assert.ok(changed.includes("run") && changed.includes("run-spec"));
  assert.deepEqual(
    changed.filter((n) => !/-(rtt|throughput)$|^run(-spec)?$/.test(n)),
    [],
  );
});

test("MaxScale: its accounts after the database, its service after accounts and installation, one endpoint", () => {
  const mocked = program({ ...TWO, proxy: { kind: "maxscale" } });
  assert.equal(mocked.error, undefined);
  assert.ok(of(mocked, "maxscale-accounts").dependsOn.includes("database-ready"));
  assert.equal(of(mocked, "maxscale-accounts").deletedWith, "local-east-1");
  assert.ok(
    !of(mocked, "maxscale-installed").dependsOn.includes("database-ready"),
    "it is installed while the database comes up",
  );
  for (const before of ["maxscale-accounts", "maxscale-installed"])
    assert.ok(of(mocked, "maxscale").dependsOn.includes(before));
  assert.ok(of(mocked, "run-spec").dependsOn.includes("maxscale"));
  const proxy = mocked.outputs["proxy"] as {
    kind: string;
    endpoints: { port: number; role: string }[];
    facts: { version: string };
  };
  assert.equal(proxy.kind, "maxscale");
  assert.deepEqual(
    proxy.endpoints.map((e) => [e.port, e.role]),
    [[4006, "proxy"]],
  );
  assert.equal(proxy.facts.version, "24.02.5");
  assert.ok(!names(mocked).some((n) => n === "haproxy" || n.endsWith("-check")));
});

test("MaxScale from an archive: it is shipped to the proxy's node, and another archive is another installation", () => {
  const dir = mkdtempSync(join(tmpdir(), "meshbench-program-"));
  try {
    const archive = (content: string): { path: string; sha256: string } => {
      const path = join(dir, `${content}.tar.zst`);
      writeFileSync(path, content);
      return { path, sha256: createHash("sha256").update(content).digest("hex") };
    };
    const one = program({ ...TWO, proxy: { kind: "maxscale", archive: archive("one") } }),
      two = program({ ...TWO, proxy: { kind: "maxscale", archive: archive("two") } });
    assert.equal(one.error, undefined);
    assert.equal(of(one, "maxscale-archive").deletedWith, "local-driver");
    assert.ok(of(one, "maxscale-installed").dependsOn.includes("maxscale-archive"));
    assert.notEqual(triggers(of(one, "maxscale")), triggers(of(two, "maxscale")));
    const wrong = program({
      ...TWO,
      proxy: { kind: "maxscale", archive: { path: join(dir, "one.tar.zst"), sha256: "0".repeat(64) } },
    });
    assert.match(wrong.error!, /^meshbench:proxy\.archive\.sha256: 0+; expected [0-9a-f]{64}, which .* has$/);
    assert.deepEqual(names(wrong), [], "nothing was created");
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test("without a proxy the load goes to the database nodes themselves", () => {
  const mocked = program({ ...TWO, proxy: { kind: "none" } });
  assert.deepEqual(mocked.outputs["proxy"], { kind: "none" });
  assert.ok(!mocked.resources.some((r) => r.type.startsWith("meshbench:proxies:")));
  assert.match(JSON.stringify(of(mocked, "run-spec").inputs), /10\.99\.0\.\d+\\*",\\*"port\\*":3306/);
});

test("a standalone server founds nothing, a backup's account comes before the joiners", () => {
  const alone = program({ sites: [site("east", 1)], links: [], database: { engine: "mariadb" }, profile: "smoke" });
  assert.equal(alone.error, undefined);
  assert.ok(names(alone).includes("east-1-mariadb") && !names(alone).some((n) => n.endsWith("-galera")));
  const backup = program({ ...TWO, database: { sstMethod: "mariabackup" } });
  assert.ok(of(backup, "sst-account").dependsOn.includes("east-1-galera"));
  assert.ok(of(backup, "east-2-galera-enter").dependsOn.includes("sst-account"));
  const split = program({ ...TWO, database: { sstMethod: "mariabackup" }, proxy: { kind: "maxscale" } });
  assert.match(JSON.stringify(of(split, "maxscale").inputs), /available_when_donor=true/);
});

test("a mistake in the configuration ends the program before anything is created", () => {
  const mocked = program({ ...TWO, databse: {} });
  assert.match(mocked.error!, /^meshbench:databse: unknown key/);
  assert.deepEqual(names(mocked), []);
});
