/** What doctor makes of a machine, of configurations and of clouds that do not answer. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { judge, missing, ok, render, skipped } from "../../cli/doctor/item.ts";
import { ran } from "../../cli/doctor/machine.ts";
import { pluginItems } from "../../cli/doctor/plugins.ts";
import { knownStacks, readSettings, stackFile } from "../../cli/doctor/settings.ts";
import { checkStack, configItems } from "../../cli/doctor/topology.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";

const root = mkdtempSync(join(tmpdir(), "meshbench-doctor-"));
after(() => rmSync(root, { recursive: true, force: true }));
writeFileSync(join(root, "Pulumi.yaml"), readFileSync(join(checkout, "Pulumi.yaml")));
const stackYaml = (name: string, text: string, folder = root): void => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `Pulumi.${name}.yaml`), text);
};

test("a stack is runnable when nothing that it needs is missing", () => {
  const fine = [ok("a", "")],
    lacking = [missing("b", "")];
  const stacks = [
    { stack: "near", local: true, checks: fine },
    { stack: "far", local: false, checks: fine },
    { stack: "unset", local: false, checks: [skipped("c", ""), missing("d", "")] },
  ];
  const runnable = (machine = fine, localNodes = fine): boolean[] =>
    judge(machine, localNodes, stacks, []).stacks.map((s) => s.runnable);
  assert.deepEqual(runnable(), [true, true, false]);
  assert.deepEqual(runnable(fine, lacking), [false, true, false]);
  assert.deepEqual(runnable(lacking), [false, false, false]);
  assert.equal(judge(fine, fine, stacks, []).ok, true, "without names one is enough");
  assert.equal(judge(fine, fine, stacks, ["near", "unset"]).ok, false, "with names all are needed");
  assert.equal(
    judge(fine, fine, [{ stack: "s", local: false, checks: [skipped("c", "")] }], ["s"]).ok,
    true,
    "what could not be asked stops nobody",
  );
  assert.match(
    render(judge(fine, lacking, stacks, [])),
    /Stack near: cannot be run here yet[\s\S]*Stack far: can be run here/,
  );
});

test("every value that a user must set is a line of its own", async () => {
  const items = configItems(await readSettings(checkout, "hybrid"));
  const toSet = items
    .filter((i) => i.check === "to be set")
    .map((i) => i.message.split(": ")[0])
    .sort();
  // Whoever has set some of them in this checkout sees the others only.
  const shipped = [
    "meshbench:operatorCidr",
    "meshbench:proxmoxToken",
    "meshbench:sites[1].address",
    "meshbench:sites[1].endpoint",
    "meshbench:sites[1].gateway",
  ];
  assert.ok(
    toSet.every((key) => shipped.includes(key!)),
    toSet.join(),
  );
  stackYaml("hybrid", readFileSync(join(checkout, "Pulumi.hybrid.yaml"), "utf8"));
  const untouched = configItems(await readSettings(root, "hybrid"));
  assert.deepEqual(
    untouched.map((i) => [i.status, i.check, i.message.split(": ")[0]]).sort(),
    shipped.map((key) => ["missing", "to be set", key]),
  );
});

test("what is wrong is told apart from what is missing; a warning comes with what is right", () => {
  const wrong = configItems({
    raw: { sites: [{ name: "a", kind: "local", nodes: 1 }], colour: "red" },
    aws: {},
    sealed: [],
  });
  assert.deepEqual(
    wrong.map((i) => [i.status, i.check]),
    [["missing", "configuration"]],
  );
  assert.match(wrong[0]!.message, /meshbench:colour: unknown key/);
  const both = configItems({
    raw: {
      sites: [{ name: "home", kind: "proxmox", nodes: 1, gateway: "router", dns: ["missing"], nat: true }],
      proxmoxToken: "missing",
    },
    aws: {},
    sealed: [],
  });
  assert.deepEqual(both.map((i) => `${i.check}: ${i.message.split(": ")[0]}`).toSorted(), [
    "configuration: meshbench:proxmoxToken",
    "configuration: meshbench:sites[0].dns[0]",
    "configuration: meshbench:sites[0].gateway",
    "to be set: meshbench:sites[0].address",
    "to be set: meshbench:sites[0].endpoint",
  ]);
  const even = configItems({ raw: { sites: [{ name: "a", kind: "local", nodes: 2 }] }, aws: {}, sealed: [] });
  assert.deepEqual(
    even.map((i) => i.status),
    ["ok"],
  );
  assert.match(even[0]!.message, /a: 2 local; mariadb.*note: 2 database nodes: an even number/);
});

test("configuration is read as the program gets it: the user's own over the committed, defaults below, text as what it stands for", async () => {
  const work = join(root, ".meshbench", "project");
  const committed = "config:\n  meshbench:profile: quick\n  meshbench:seed: 1\n  other:key: x\n";
  stackYaml("mine", committed);
  stackYaml("mine", committed, join(work, ".committed"));
  stackYaml(
    "mine",
    'config:\n  meshbench:profile: quick\n  meshbench:seed: "7"\n  meshbench:runId: "007"\n  meshbench:sites: \'[{"name":"a","kind":"local","nodes":1}]\'\n',
    work,
  );
  stackYaml("study-x", "config: {}\n", work);
  const { raw, sealed } = await readSettings(root, "mine");
  assert.deepEqual(sealed, []);
  assert.deepEqual([raw["seed"], raw["runId"], raw["profile"], raw["expiresHours"]], [7, "007", "quick", 24]);
  assert.deepEqual(raw["sites"], [{ name: "a", kind: "local", nodes: 1 }]);
  assert.ok(
    !("operatorCidr" in raw) && !("key" in raw),
    "an empty default stands for none, and other namespaces are others'",
  );
  assert.equal(stackFile(root, "mine")["meshbench:seed"], "7");
  assert.deepEqual(knownStacks(root), { committed: ["hybrid", "mine"], own: ["study-x"] });
});

test("a file that is no YAML is one line, not a trace", async () => {
  stackYaml("torn", "config: [");
  const { checks } = await checkStack("torn", undefined, root);
  assert.deepEqual(
    checks.map((i) => [i.status, i.check]),
    [["missing", "configuration"]],
  );
  assert.match(checks[0]!.message, /^Pulumi\.torn\.yaml cannot be read: /);
});

test("a cloud's plugin is found on PATH or where the engine keeps it, and a stand-in is called one", () => {
  const home = join(root, "home"),
    bin = join(root, "bin");
  const { version } = JSON.parse(readFileSync(join(checkout, "node_modules/@pulumi/aws/package.json"), "utf8")) as {
    version: string;
  };
  const look = (source: "built" | "path"): string => {
    const [item] = pluginItems(
      new Set(["aws", "local"]),
      { binary: "/x", version: "3.276.0", source },
      { PULUMI_HOME: home, PATH: bin },
    );
    return `${item!.status}: ${item!.message}`;
  };
  assert.match(look("built"), /^missing: .*fetches none: run `npm run pulumi -- plugin install resource aws/);
  assert.match(look("path"), /^skipped: .*fetches it during the first `up`/);
  const kept = join(home, "plugins", `resource-aws-v${version}`);
  mkdirSync(kept, { recursive: true });
  writeFileSync(join(kept, "pulumi-resource-aws"), "ELF");
  assert.equal(look("built"), `ok: ${join(kept, "pulumi-resource-aws")}`);
  mkdirSync(bin, { recursive: true });
  writeFileSync(
    join(bin, "pulumi-resource-aws"),
    "#!/bin/sh\nexec node /somewhere/standins/pulumi-resource-aws/main.ts\n",
  );
  chmodSync(join(bin, "pulumi-resource-aws"), 0o755);
  assert.match(look("built"), /a stand-in of this project/);
});

const AWS_SITE =
  "config:\n  meshbench:operatorCidr: 203.0.113.7/32\n  meshbench:sites: [{name: aws, kind: aws, region: us-east-1, nodes: 1}]\n";

async function cloudLines(environment: Record<string, string | undefined>): Promise<string[]> {
  const before = { ...process.env };
  for (const key of Object.keys(process.env)) if (key.startsWith("AWS_")) delete process.env[key];
  Object.assign(process.env, {
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    ...environment,
  });
  try {
    stackYaml("cloud", AWS_SITE);
    return (await checkStack("cloud", undefined, root)).checks
      .filter((i) => /AWS/.test(i.check))
      .map((i) => `${i.status}: ${i.message}`);
  } finally {
    for (const key of Object.keys(process.env)) if (!(key in before)) delete process.env[key];
    Object.assign(process.env, before);
  }
}

test("no credentials is missing, no network is skipped with the reason", async () => {
  const [none] = await cloudLines({});
  assert.match(none!, /^missing: no AWS credentials were found: set AWS_PROFILE/);
  // Port 9 of loopback: nobody listens.
  const [unreachable] = await cloudLines({
    AWS_ACCESS_KEY_ID: "x",
    AWS_SECRET_ACCESS_KEY: "y",
    AWS_ENDPOINT_URL: "http://127.0.0.1:9",
  });
  assert.match(unreachable!, /^skipped: AWS cannot be reached from here \(ECONNREFUSED\)/);
});

test("MaxScale's archive is looked at with its hash", async () => {
  writeFileSync(join(root, "maxscale.deb"), "not really");
  const archived = (sha: string): string =>
    `config:\n  meshbench:sites: [{name: a, kind: local, nodes: 3}]\n  meshbench:proxy: {kind: maxscale, archive: {path: maxscale.deb, sha256: "${sha}"}}\n`;
  stackYaml("archived", archived("0".repeat(64)));
  const { checks } = await checkStack("archived", undefined, root);
  const wrong = checks.find((i) => i.check === "MaxScale")!;
  assert.match(
    `${wrong.status}: ${wrong.message}`,
    /^missing: meshbench:proxy\.archive\.sha256: 0000.*; expected [0-9a-f]{64}, which .*maxscale\.deb has$/,
  );
  stackYaml("archived", archived(/expected ([0-9a-f]{64})/.exec(wrong.message)![1]!));
  assert.equal(
    (await checkStack("archived", undefined, root)).checks.find((i) => i.check === "MaxScale")!.status,
    "ok",
  );
});

test("the command: JSON whose verdict is the exit code; an unknown stack is one line", async () => {
  const { code, stdout } = await ran(nodeBinary(), [join(checkout, "cli/main.ts"), "doctor", "--json", "local"]);
  const report = JSON.parse(stdout) as {
    ok: boolean;
    stacks: { stack: string; runnable: boolean }[];
    machine: { check: string }[];
  };
  assert.deepEqual(
    report.stacks.map((s) => s.stack),
    ["local"],
  );
  assert.equal(code, report.ok ? 0 : 1);
  assert.equal(report.ok, report.stacks[0]!.runnable);
  assert.ok(report.machine.some((i) => i.check === "Pulumi engine"));
  const unknown = await ran(nodeBinary(), [join(checkout, "cli/main.ts"), "doctor", "nope"]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /^nope: no such stack; there are [^\n]*local[^\n]*\n$/);
});

test("a secret set by site is set, though it cannot be decrypted here; a token may come from the environment", async (t) => {
  const site = (name: string): string =>
    `{ name: ${name}, kind: proxmox, nodes: 1, endpoint: "https://pve.example.org:8006", address: 192.168.1.40/24, gateway: 192.168.1.1, node: pve }`;
  const sites = `config:\n  meshbench:operatorCidr: 203.0.113.7/32\n  meshbench:sites: [${site("home")}]\n`;
  stackYaml("by-site", `${sites}  meshbench:proxmoxToken: { home: { secure: v1:abc } }\n`);
  const { raw, sealed } = await readSettings(root, "by-site");
  assert.deepEqual(sealed, ["proxmoxToken"]);
  assert.deepEqual(raw["proxmoxToken"], { home: "sealed@sealed!sealed=sealed" });
  const messages = configItems(await readSettings(root, "by-site")).map((i) => i.message);
  assert.ok(!messages.some((m) => /proxmoxToken is (missing|no API)/.test(m)), messages.join("\n"));
  stackYaml("by-env", sites);
  process.env["PROXMOX_VE_API_TOKEN"] = "u@pve!t=secret";
  t.after(() => delete process.env["PROXMOX_VE_API_TOKEN"]);
  assert.equal((await readSettings(root, "by-env")).raw["proxmoxToken"], "u@pve!t=secret");
});
