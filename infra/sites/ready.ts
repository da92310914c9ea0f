/** Holds everything that would use a node until it can be used: SSH with the pinned key, first boot over. */

import { local } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import type { Node } from "../node.ts";

/** What a node says of itself. virtualization is systemd-detect-virt's word: amazon, kvm, lxc, systemd-nspawn ... */
export interface NodeFacts {
  virtualization: string;
  os: string;
  kernel: string;
  cpus: number;
  memoryMb: number;
}

export interface ReadyArgs {
  connection: Node["connection"];
  sudo: boolean;
  /** Bound for SSH and first boot together; the error says which of them did not come. */
  timeoutSeconds: number;
  /** The engine's, of a database node; else empty. */
  rejoined: string;
  /** A change waits anew: the machine's id, and whatever stops and starts it. */
  triggers: pulumi.Input<string>[];
}

export interface Ready {
  resource: pulumi.Resource;
  facts: pulumi.Output<NodeFacts>;
  /** The connection, which nobody gets before the node is ready. Its value is known as early as the one given. */
  connection: Node["connection"];
}

export function ready(
  node: string,
  { connection, sudo, timeoutSeconds, rejoined, triggers }: ReadyArgs,
  opts: pulumi.CustomResourceOptions,
): Ready {
  const stdin = pulumi
    .all([connection])
    .apply(([known]) => JSON.stringify({ name: node, connection: known, sudo, timeoutSeconds, rejoined }));
  const waited = new local.Command(
    `${node}-ready`,
    {
      create: "node infra/sites/wait-ready.ts",
      stdin: pulumi.secret(stdin),
      triggers,
      logging: "stderr",
      addPreviousOutputInEnv: false,
    },
    opts,
  );
  // stdout is a secret because stdin is one; what it holds is not.
  const facts = pulumi.unsecret(waited.stdout).apply((text) => JSON.parse(text) as NodeFacts);
  // A step with an unknown connection would be shown as changed: the URN is known before the wait, and carries the
  // dependency.
  return { resource: waited, facts, connection: pulumi.all([connection, waited.urn]).apply(([known]) => known) };
}
