/**
 * The shipped hybrid stack on the real engine, with stand-ins for both clouds: two database nodes in "AWS", one "at
 * home" behind NAT, 10 ms apart, and HAProxy for MaxScale. It proves the program and its order of things, not the
 * clouds.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TestStack, touched } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { golden } from "../infra/golden.ts";
import { type FakePve, fakePvePython, startFakePve } from "../proxmox/fake-pve.ts";
import { MotoLook } from "./moto-look.ts";
import { CloudStack, previewed, shippedConfig, withoutRuns } from "./stand-ins.ts";

const shipped = shippedConfig("hybrid");
let clouds: CloudStack, aws: MotoLook, pve: FakePve;
const stack = new TestStack("hybrid", shipped);

before(async () => {
  clouds = await CloudStack.start({ stack, sites: [{ name: "aws" }, { name: "home", nat: true }] });
  aws = new MotoLook(clouds.moto.url);
  const found = fakePvePython();
  if ("reason" in found) throw new Error(found.reason);
  pve = await startFakePve(found.python);
  clouds.launcher("pulumi-resource-proxmoxve");
  clouds.environment({
    NODE_EXTRA_CA_CERTS: pve.caFile,
    SSL_CERT_FILE: pve.caFile,
    MESHBENCH_STAND_INS: "the AWS plugin for Pulumi; the Proxmox plugin for Pulumi",
  });
  const [inAws, atHome] = shipped.sites!;
  const home = clouds.prefixes["home"]!;
  stack.configure({
    ...shipped,
    operatorCidr: "203.0.113.7/32",
    proxmoxToken: pve.token,
    profile: "quick",
    proxy: { ...shipped.proxy, kind: "haproxy" },
    sites: [
      inAws!,
      {
        ...atHome!,
        endpoint: pve.endpoint,
        address: `${home}.100/24`,
        gateway: `${home}.1`,
      } as ConfigInput["sites"][number],
    ],
    cost: { nodeHour: { home: 0.02 }, asOf: "2026-01-31" },
  } as ConfigInput);
});
after(async () => {
  await clouds?.stop();
  await pve?.stop();
});

async function up(): Promise<string> {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-5000));
  return output;
}

test("preview shows every resource of both clouds", async () => {
  golden("hybrid-preview.txt", await previewed(stack));
});

test("up: from nothing to results over both clouds", async () => {
  await up();
  const out = await stack.outputs();
  assert.equal(out["database"].facts.size, 3);
  assert.deepEqual(
    [...new Set(out["results"].map((r: { workload: string }) => r.workload))],
    ["oltp_read_only", "oltp_write_only", "oltp_read_write"],
  );
  assert.deepEqual(Object.keys(await aws.instances()).sort(), ["aws-1", "aws-2", "driver"]);
  const pairs = new Map<string, any>(
    out["rttMatrix"].map((p: { from: string; to: string }) => [`${p.from} ${p.to}`, p]),
  );
  assert.ok(pairs.get("aws-1 home-1").rttMs.avg >= 10, "through the emulated WAN");
  assert.ok(pairs.get("aws-1 aws-2").rttMs.avg < 10, "inside one site");
  for (const what of ["EC2 instance of aws", "Proxmox guest of home", "the AWS plugin", "the Proxmox plugin"])
    assert.ok(
      out["standIns"].some((s: string) => s.includes(what)),
      `${what} in ${JSON.stringify(out["standIns"])}`,
    );

  const result = stack.result(out["resultFile"]) as unknown as {
    cost: { traffic: { gb: number; cost: number }; total: number };
  };
  assert.ok(
    result.cost.traffic.gb > 0 && result.cost.traffic.cost > 0,
    `writesets crossed the border: ${JSON.stringify(result.cost)}`,
  );
});

test("the node at home dials out and keeps its way open; AWS does not know where it is", () => {
  assert.match(stack.onNode("home-1", "cat", "/etc/wireguard/wg0.conf"), /Endpoint = .*\nPersistentKeepalive = 25/);
  const conf = stack.onNode("aws-1", "cat", "/etc/wireguard/wg0.conf");
  const home = conf.split("# ").find((part) => part.startsWith("home-1"))!;
  assert.doesNotMatch(home, /Endpoint/);
});

test("a second up changes nothing, and neither does one after a refresh", async () => {
  assert.deepEqual(withoutRuns(touched(await up())), []);
  const { code, output } = await stack.run("refresh", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(touched(output), []);
  assert.deepEqual(withoutRuns(touched(await up())), []);
});

test("destroy leaves nothing in either cloud", async () => {
  const { code, output } = await stack.run("destroy", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(await aws.leftovers(), []);
  assert.deepEqual(await pve.call("GET", "/cluster/resources?type=vm"), []);
  assert.deepEqual(clouds.labNodes(), []);
});
