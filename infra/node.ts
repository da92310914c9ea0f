/** The provider-neutral node, and how a step runs on one. After sites/, nothing asks which cloud a node is in. */

import { remote, type types } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { asRoot } from "./shell.ts";
import type { NodePlan } from "./topology.ts";

export interface Node extends NodePlan {
  /** On the site's own network. */
  lanAddress: pulumi.Output<string>;
  /** At which other sites reach it. */
  publicAddress: pulumi.Output<string>;
  behindNat: boolean;
  connection: pulumi.Output<types.input.remote.ConnectionArgs>;
  /** The user that SSH logs in as is not root. */
  sudo: boolean;
  /** What the node is made of; steps on it vanish with it. Absent for hosts that are not ours. */
  resource?: pulumi.Resource;
  /** After which it is as configured; what can be changed under a running node is changed by then. */
  settled?: pulumi.Resource;
  /** Starts it again when it is down, with the network that it stands in; absent where that is not ours to do. */
  bringBack?: () => Promise<void>;
  /** What to know about it: instance type, image, limits. */
  facts: pulumi.Output<Record<string, unknown>>;
}

/** Of this very machine: another one in its place has another. No secret: the host key is the public one. */
export const identityOf = ({ resource, connection }: Node): pulumi.Output<string> =>
  pulumi.unsecret(
    pulumi
      .all([resource instanceof pulumi.CustomResource ? resource.id : "", connection])
      .apply(([id, { host, hostKey }]) => `${id} ${hostKey ?? host}`),
  );

export interface Step {
  /**
   * A bash script, run as root with -euo pipefail. Idempotent: any changed input runs it again. Never holds a secret.
   */
  script: pulumi.Input<string>;
  /** Where secrets go. Never shown, secret in state. */
  stdin?: pulumi.Input<string>;
  /** Values that replace the step, which runs it again. */
  triggers?: pulumi.Input<pulumi.Input<string>[]>;
  /** stdout is a secret, and not shown. */
  secretOutput?: boolean;
  /** After which it is ended and counts as failed; half an hour unless told. */
  timeoutSeconds?: number;
  /** What of its output is streamed; default stderr. */
  logging?: "none" | "stderr" | "stdout" | "stdoutAndStderr";
}

/** Runs a step on a node when it is created and again when its inputs change; nothing happens at its deletion. */
export function onNode(name: string, node: Node, step: Step, opts: pulumi.CustomResourceOptions): remote.Command {
  const triggers = step.triggers;
  const stdin = step.stdin === undefined ? undefined : pulumi.secret(step.stdin);
  const call = pulumi
    .all([step.script, stdin])
    .apply(([script, input]) => asRoot(name, script, node.sudo, input, step.timeoutSeconds));
  return new remote.Command(
    name,
    {
      connection: node.connection,
      create: stdin === undefined ? call.command : pulumi.unsecret(call.command),
      stdin: call.stdin,
      ...(triggers === undefined ? {} : { triggers: pulumi.output(triggers) }),
      logging: step.logging ?? (step.secretOutput ? "none" : "stderr"),
      addPreviousOutputInEnv: false,
    },
    {
      ...opts,
      ...(node.resource === undefined ? {} : { deletedWith: node.resource }),
      ...(step.secretOutput ? { additionalSecretOutputs: ["stdout", "stderr"] } : {}),
    },
  );
}
