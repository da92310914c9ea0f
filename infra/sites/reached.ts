/** From an address to a Node's connection: first contact, then the steps after which the node counts as ready. */

import { local, type types } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { type Node, onNode } from "../node.ts";
import type { ProxmoxApi } from "./proxmox/api.ts";

type Connection = pulumi.Output<types.input.remote.ConnectionArgs>;

export interface Reach {
  node: string;
  host: pulumi.Input<string>;
  port: number;
  user: string;
  privateKey: pulumi.Input<string>;
  proxy: { host: string; port: number; user: string; hostKey: string; privateKey: pulumi.Output<string> } | undefined;
  timeoutSeconds: number;
  /** Of a host that was there before: known beforehand, or taken when seen first. */
  hostKey?: string;
  existing?: { sudo: boolean };
}

/**
 * How often and how long the command plugin dials before a step counts as failed. 141 s where packets are dropped, 21 s
 * where the port is closed: long enough for a server that has many handshakes at once.
 */
export const DIAL = { dialErrorLimit: 12, perDialTimeout: 10 };

/**
 * Waits for the first login and prints the host key. Runs again when one of `triggers` changes - another machine has
 * another key - and for no other reason: an update, which any changed input is, keeps the key that is pinned.
 */
export function firstContact(
  reach: Reach,
  triggers: pulumi.Input<pulumi.Input<string>[]>,
  verify: pulumi.Input<ProxmoxApi & { hypervisor: string; vmId: number }> | undefined,
  opts: pulumi.CustomResourceOptions,
): pulumi.Output<string> {
  const input = pulumi.output({ ...reach, verify }).apply((contact) => JSON.stringify(contact));
  const contact = new local.Command(
    `${reach.node}-first-contact`,
    {
      create: "node infra/sites/first-contact.ts",
      update: KEEP_OUTPUT,
      stdin: pulumi.secret(input),
      triggers: pulumi.output(triggers),
      logging: "stderr",
      addPreviousOutputInEnv: true,
    },
    opts,
  );
  return pulumi.unsecret(contact.stdout);
}

/** The outcome stays what it was. The plugin hands the last one over in the environment. */
const KEEP_OUTPUT = `printf %s "$PULUMI_COMMAND_STDOUT"`;

export function connectionOf(reach: Reach, hostKey: pulumi.Input<string>): Connection {
  const { host, port, user, privateKey, proxy } = reach;
  return pulumi.secret(
    pulumi.output({
      host,
      port,
      user,
      privateKey,
      hostKey,
      ...DIAL,
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
