/** From an address to a Node's connection: first contact, then the steps after which the node counts as ready. */

import { local, type types } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { type Node, onNode } from "../node.ts";
import { checkout } from "../paths.ts";
import type { ProxmoxApi } from "./proxmox-api.ts";

type Connection = pulumi.Output<types.input.remote.ConnectionArgs>;

export interface Reach {
  node: string;
  host: pulumi.Input<string>;
  port: number;
  user: string;
  privateKey: pulumi.Input<string>;
  proxy: { host: string; port: number; user: string; hostKey: string; privateKey: pulumi.Output<string> } | undefined;
  timeoutSeconds: number;
}

/**
 * Waits for the first login and prints the host key. Runs again when one of `triggers` changes: another machine has
 * another key.
 */
export function firstContact(
  reach: Reach,
  triggers: pulumi.Input<pulumi.Input<string>[]>,
  verify: pulumi.Input<ProxmoxApi & { hypervisor: string; vmId: number }> | undefined,
  opts: pulumi.CustomResourceOptions,
): pulumi.Output<string> {
  const input = pulumi.output({ ...reach, verify }).apply((contact) => JSON.stringify(contact));
  return new local.Command(
    `${reach.node}-first-contact`,
    {
      create: "node infra/sites/first-contact.ts",
      stdin: pulumi.secret(input),
      triggers: pulumi.output(triggers),
      dir: checkout,
      logging: "stderr",
      addPreviousOutputInEnv: false,
    },
    opts,
  ).stdout;
}

export function connectionOf(reach: Reach, hostKey: pulumi.Input<string>): Connection {
  const { host, port, user, privateKey, proxy } = reach;
  return pulumi.secret(
    pulumi.output({
      host,
      port,
      user,
      privateKey,
      hostKey,
      dialErrorLimit: 20,
      perDialTimeout: 15,
      ...(proxy === undefined ? {} : { proxy }),
    }),
  );
}

/**
 * A step that must have run before any other step connects: later steps get the connection from its outcome. Prints
 * JSON. A changed trigger runs it again.
 */
export function readyThrough<T>(
  node: Node,
  script: string,
  triggers: string[],
  opts: pulumi.CustomResourceOptions,
  timeoutSeconds?: number,
): { resource: pulumi.Resource; connection: Connection; printed: pulumi.Output<T> } {
  const ready = onNode(
    `${node.name}-ready`,
    node,
    {
      script,
      ...(triggers.length === 0 ? {} : { triggers }),
      ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    },
    opts,
  );
  return {
    resource: ready,
    // Its URN carries the dependency and is known in a preview; its output is not, and would show every later step as
    // changed.
    connection: pulumi.secret(
      pulumi.all([node.connection, ready.urn]).apply(([connection]) => connection),
    ) as Connection,
    printed: ready.stdout.apply((text) => JSON.parse(text) as T),
  };
}
