/**
 * The shipped cloud stacks on machines that are as bare as the clouds' images: every package is installed by the stack's
 * own steps, beside an apt-daily that holds the locks, past sshd's own limits, with whatever host keys the first boot makes.
 * The packages come from an archive on this machine, and apt-daily is a stand-in.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestStack } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { ProxmoxStack } from "../proxmox/stand-in.ts";
import { MotoLook } from "./moto-look.ts";
import { CloudStack, shippedConfig } from "./stand-ins.ts";

process.env["MESHBENCH_STANDIN_BARE"] = "yes";
const shipped = shippedConfig("aws-only");
const stack = new TestStack("aws-bare", {
  ...shipped,
  operatorCidr: "203.0.113.7/32",
  profile: "smoke",
  proxy: { ...shipped.proxy, kind: "haproxy" },
} as ConfigInput);
let clouds: CloudStack | undefined, proxmox: ProxmoxStack | undefined;

after(async () => {
  await clouds?.stop();
  await proxmox?.stop();
});

/** From nothing to results and back. */
async function standsUp(which: TestStack, node: string): Promise<void> {
  const { code, output } = await which.up();
  assert.equal(code, 0, output.slice(-4000));
  const { results } = await which.outputs();
  assert.ok(results.length > 0 && results.every((r: { tps: number }) => r.tps > 0), JSON.stringify(results));
  const units = which.onNode(
    node,
    "sh",
    "-c",
    "systemctl is-enabled apt-daily.timer unattended-upgrades.service || true",
  );
  assert.equal(units, "masked\nmasked\n", "the distribution's own package work is over");
  const gone = await which.run("destroy", "--yes");
  assert.equal(gone.code, 0, gone.output.slice(-3000));
}

// One after the other: the stand-ins of both clouds learn from the environment which laboratory is theirs.
test("aws-only: mesh, cluster, proxy, load", async () => {
  clouds = await CloudStack.start({ stack, sites: [{ name: "aws" }] });
  const aws = new MotoLook(clouds.moto.url);
  await standsUp(stack, "aws-1");
  assert.deepEqual(await aws.leftovers(), []);
  await clouds.stop();
  clouds = undefined;
});

test("proxmox-only: the same, with three host keys of which the ed25519 one is pinned", async () => {
  proxmox = await ProxmoxStack.start("proxmox-bare");
  proxmox.configure({}, { profile: "smoke" });
  await standsUp(proxmox.stack, "home-1");
  assert.deepEqual(await proxmox.guests(), []);
});
