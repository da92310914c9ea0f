import assert from "node:assert/strict";
import { test } from "node:test";
import type { Site } from "../../infra/config/sites/index.ts";
import { standInNodes } from "../../infra/sites/stand-in-nodes.ts";

const sites = [
  { name: "aws", kind: "aws" },
  { name: "home", kind: "proxmox" },
  { name: "here", kind: "local" },
] as Site[];
const node = (name: string, site: string, facts: Record<string, unknown>) => ({ name, site, facts });

test("a container of this machine where a cloud's machine should be is named", () => {
  assert.deepEqual(
    standInNodes(sites, [
      node("aws-1", "aws", { virtualization: "systemd-nspawn" }),
      node("home-1", "home", { seen: { virtualization: "systemd-nspawn" } }),
    ]),
    [
      "a local node stands in for each EC2 instance of aws (aws-1): figures are of this machine, not of a cloud",
      "a local node stands in for each Proxmox guest of home (home-1): figures are of this machine, not of a cloud",
    ],
  );
});

test("real machines, and local nodes that say they are local, are not", () => {
  assert.deepEqual(
    standInNodes(sites, [
      node("aws-1", "aws", { virtualization: "amazon" }),
      node("home-1", "home", { seen: { virtualization: "lxc" } }),
      node("here-1", "here", { virtualization: "systemd-nspawn" }),
    ]),
    [],
  );
});
