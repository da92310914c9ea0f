import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { diskFiles } from "../../lab/disk.ts";
import { debianSources } from "../../lab/image/mirror.ts";
import { nodeRequest, parse } from "../../lab/schema.ts";

const minimal = { lab: "demo", site: "rome", name: "db-1" };
const keys = { private: "PRIVATE\n", public: "ssh-ed25519 AAAA" };
const key = "ssh-ed25519 AAAAC3Nz operator@machine";

test("a plain node has cloud-init off and its secrets closed", () => {
  const files = diskFiles(
    parse(nodeRequest, { ...minimal, authorizedKeys: [key] }, "node"),
    "10.64.1.10",
    keys,
    "0123",
  );
  const byPath = new Map(files.map((file) => [file.path, file]));
  assert.equal(byPath.get("etc/hosts")?.text, "127.0.0.1 localhost\n10.64.1.10 db-1\n");
  assert.equal(byPath.get("root/.ssh/authorized_keys")?.text, `${key}\n`);
  assert.equal(byPath.get("etc/ssh/ssh_host_ed25519_key")?.mode, 0o600);
  assert.ok(byPath.has("etc/cloud/cloud-init.disabled"));
});

test("user data makes a NoCloud seed and leaves cloud-init on", () => {
  const files = diskFiles(
    parse(nodeRequest, { ...minimal, userData: "#cloud-config\n" }, "node"),
    "10.64.1.10",
    keys,
    "0123",
  );
  const byPath = new Map(files.map((file) => [file.path, file.text]));
  assert.equal(byPath.get("var/lib/cloud/seed/nocloud/user-data"), "#cloud-config\n");
  assert.match(byPath.get("var/lib/cloud/seed/nocloud/meta-data") ?? "", /^instance-id: 0123\nlocal-hostname: db-1\n$/);
  assert.ok(!byPath.has("etc/cloud/cloud-init.disabled"));
});

test("errors in a node name the key and never show a private key", () => {
  assert.throws(
    () => parse(nodeRequest, { ...minimal, cpus: "two" }, "node"),
    /^LabError: node: cpus: .*number.*\(given: "two"\)|node: cpus/,
  );
  assert.throws(
    () => parse(nodeRequest, { ...minimal, authorizedKeys: ["nonsense"] }, "node"),
    /node: authorizedKeys\.0: an OpenSSH public key/,
  );
  assert.throws(() => parse(nodeRequest, { ...minimal, lables: {} }, "node"), /node: .*"lables"/);
  assert.throws(
    () => parse(nodeRequest, { ...minimal, hostKeyPrivate: 12345 }, "node"),
    (error: Error) => error.message.includes("hostKeyPrivate") && !error.message.includes("12345"),
  );
});

test("the image comes from the machine's Debian archives and from nothing else", () => {
  const sources = debianSources([
    {
      name: "/etc/apt/sources.list",
      text: "# deb http://commented.example/debian bookworm main\ndeb [arch=amd64] http://mirror.example/debian/ bookworm main contrib\ndeb http://vendor.example/repo bookworm main\n",
    },
    {
      name: "/etc/apt/sources.list.d/debian.sources",
      text: `Types: deb deb-src
# http://snapshot.example/debian
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates bookworm-backports
Components: main

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
`,
    },
  ]);
  assert.deepEqual(sources, [
    "deb http://mirror.example/debian/ bookworm main",
    "deb http://mirror.example/debian bookworm main",
    "deb http://mirror.example/debian bookworm-updates main",
    "deb http://mirror.example/debian-security bookworm-security main",
  ]);
});

const cli = (args: string[], input = "") =>
  spawnSync(process.execPath, [join(import.meta.dirname, "../../lab/cli.ts"), ...args], { input, encoding: "utf8" });

test("the command line says in one line what is wrong, with exit code 1 and nothing on stdout", () => {
  for (const [args, input, expected] of [
    [["node", "create"], "", /^lab: node: JSON is expected on stdin \(nothing came\)\n$/],
    [["node", "create"], "{", /^lab: node: JSON is expected on stdin/],
    [["network", "apply"], '{"lab":"x","sites":[]}', /^lab: network: sites: .*\n$/],
    [["node", "delete", "--lab", "Bad_Name", "--name", "x"], "", /^lab: --lab: lab name: .*"Bad_Name"\)\n$/],
    [["node", "start", "--lab", "no-such-lab", "--name", "x"], "", /^lab: there is no lab "no-such-lab".*\n$/],
    [["network", "delete"], "{}", /^lab: network: lab: .*\n$/],
    [["purge"], "", /^lab: purge: --lab <lab>, --all or --expired is needed\n$/],
  ] as const) {
    const result = cli([...args], input);
    assert.equal(result.status, 1, args.join(" "));
    assert.equal(result.stdout, "");
    assert.match(result.stderr, expected);
  }
});

test("every command has help", () => {
  for (const args of [
    [],
    ["check"],
    ["image"],
    ["network"],
    ["node"],
    ["node", "create"],
    ["link", "set"],
    ["purge"],
  ]) {
    const result = cli([...args, "--help"]);
    assert.equal(result.status, 0);
    assert.match(result.stdout, /^Usage: lab/);
  }
});
