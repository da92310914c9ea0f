/**
 * A stack over both clouds with `debian: 13`, on the real engine with stand-ins for the clouds: images of 13 are looked
 * up and named, their nodes run it, MariaDB 11.8 of its archive joins over the mesh. Not the clouds themselves.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TestStack, touched } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { type FakePve, fakePvePython, startFakePve } from "../proxmox/fake-pve.ts";
import { MotoLook } from "./moto-look.ts";
import { CloudStack, withoutRuns } from "./stand-ins.ts";

const SITE = { nodes: 1 } as const;
let clouds: CloudStack, aws: MotoLook, pve: FakePve;
const stack = new TestStack("debian-13", { sites: [{ name: "aws", kind: "local", ...SITE }] });

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
  const home = clouds.prefixes["home"]!;
  const config: ConfigInput = {
    debian: 13,
    operatorCidr: "203.0.113.7/32",
    proxmoxToken: pve.token,
    profile: "smoke",
    proxy: { kind: "none" },
    sites: [
      { name: "aws", kind: "aws", region: "us-east-1", ...SITE },
      {
        name: "home",
        kind: "proxmox",
        endpoint: pve.endpoint,
        address: `${home}.100/24`,
        gateway: `${home}.1`,
        ...SITE,
      },
    ],
  };
  stack.configure(config);
});
after(async () => {
  await stack.run("destroy", "--yes");
  await clouds?.stop();
  await pve?.stop();
});

test("up on Debian 13 in both clouds: every node runs it, and the result says so", async () => {
  const { code, output } = await stack.up();
  assert.equal(code, 0, output.slice(-5000));
  for (const node of ["aws-1", "home-1", "driver"])
    assert.match(stack.onNode(node, "cat", "/etc/debian_version"), /^13/, node);
  for (const node of ["aws-1", "home-1"])
    assert.match(stack.onNode(node, "mariadb", "-NBe", "SELECT VERSION()"), /^11\.8\.\d+-MariaDB/, node);
  const out = await stack.outputs();
  assert.equal(out["database"].facts.size, 2);
  assert.ok(
    out["results"].length > 0 && out["results"].every((r: { tps: number }) => r.tps > 0),
    JSON.stringify(out["results"]),
  );
  const text = JSON.stringify(stack.result(out["resultFile"]));
  assert.match(text, /11\.8\.\d+-MariaDB/);
  assert.match(text, /Debian GNU\/Linux 13/);
  const images: { volid: string }[] = await pve.call("GET", "/nodes/pve/storage/local/content");
  assert.ok(
    images.some(({ volid }) => volid.includes("debian-13-")),
    JSON.stringify(images),
  );
});

test("a second up changes nothing; destroy leaves nothing in either cloud", async () => {
  const again = await stack.up();
  assert.equal(again.code, 0, again.output.slice(-3000));
  assert.deepEqual(withoutRuns(touched(again.output)), []);
  const { code, output } = await stack.run("destroy", "--yes");
  assert.equal(code, 0, output.slice(-3000));
  assert.deepEqual(await aws.leftovers(), []);
  assert.deepEqual(await pve.call("GET", "/cluster/resources?type=vm"), []);
  assert.deepEqual(clouds.labNodes(), []);
});
