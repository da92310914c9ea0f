/** A site of hosts that already exist. Nothing is created or destroyed; at the end they are left as they were found. */

import { remote } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import type { SshSite as SiteConfig } from "../config/sites/ssh.ts";
import type { Node } from "../node.ts";
import { asRoot, shellQuote } from "../shell.ts";
import type { NodePlan } from "../topology.ts";
import { jumpConnection, readPrivateKey } from "./keys.ts";
import { connectionOf, firstContact, type Reach } from "./reached.ts";
import { LEAVE_COMMAND } from "./ssh-host.ts";

/** A host that is there answers at once; a minute is for one that restarts. */
const CONTACT_SECONDS = 60;

export class SshSite extends pulumi.ComponentResource {
  readonly nodes: Node[];
  private readonly site: SiteConfig;
  private readonly privateKey: pulumi.Output<string>;
  private readonly proxy: Reach["proxy"];

  /**
   * @param plans in the order of hosts: database nodes, proxy, driver
   * @param found runs first on each host: writes down how it was found, and how to leave it (ssh-host.ts)
   */
  constructor(site: SiteConfig, key: string, plans: NodePlan[], found: string, opts?: pulumi.ComponentResourceOptions) {
    super("meshbench:sites:Ssh", site.name, {}, opts);
    this.site = site;
    this.privateKey = readPrivateKey(site.privateKeyFile, `${key}.privateKeyFile`);
    this.proxy = jumpConnection(site.jump, key);
    this.nodes = plans.map((plan, i) => this.node(plan, site.hosts[i]!, found));
    this.registerOutputs();
  }

  private node(plan: NodePlan, host: SiteConfig["hosts"][number], script: string): Node {
    const { site } = this;
    const sudo = site.user !== "root";
    const reach: Reach = {
      node: plan.name,
      host: host.address,
      port: site.port,
      user: site.user,
      privateKey: this.privateKey,
      proxy: this.proxy,
      timeoutSeconds: CONTACT_SECONDS,
      ...(host.hostKey === undefined ? {} : { hostKey: host.hostKey }),
      existing: { sudo },
    };
    const hostKey = firstContact(reach, [host.address, String(site.port), host.hostKey ?? ""], undefined, {
      parent: this,
    });
    const first = connectionOf(reach, hostKey);
    const call = asRoot(`${plan.name}-found`, script, sudo);
    // Not deleted with anything: the host outlives the stack, and is to be left in order.
    const found = new remote.Command(
      `${plan.name}-found`,
      {
        connection: first,
        create: call.command,
        stdin: call.stdin,
        delete: `${sudo ? "sudo -n " : ""}bash -c ${shellQuote(LEAVE_COMMAND)}`,
        triggers: [host.address],
        logging: "stderr",
        addPreviousOutputInEnv: false,
      },
      { parent: this, deleteBeforeReplace: true },
    );
    return {
      ...plan,
      lanAddress: pulumi.output(host.lanAddress ?? host.address),
      publicAddress: pulumi.output(host.publicAddress ?? host.address),
      behindNat: site.nat,
      connection: pulumi.secret(
        pulumi.all([first, found.urn]).apply(([connection]) => connection),
      ) as Node["connection"],
      sudo,
      facts: found.stdout.apply(
        (text): Record<string, unknown> => ({
          kind: "host that was there",
          address: host.address,
          ...(site.note === "" ? {} : { note: site.note }),
          seen: JSON.parse(text) as unknown,
        }),
      ),
    };
  }
}
