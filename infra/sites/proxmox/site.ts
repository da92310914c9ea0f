/** A site on a Proxmox VE host: an image, and per node a virtual machine or a container. No SSH to the hypervisor. */

import * as proxmox from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";
import { loginOf, type Secrets, type ProxmoxSite as SiteConfig } from "../../config/sites/proxmox.ts";
import type { Engine } from "../../databases/engine.ts";
import type { Node } from "../../node.ts";
import type { Owned } from "../../preflight/owned.ts";
import type { NodePlan } from "../../topology.ts";
import type { SiteContext } from "../context.ts";
import { grownDisks } from "../disk-growth.ts";
import { guard } from "../guard.ts";
import { jumpConnection } from "../keys.ts";
import { connectionOf, firstContact, type Reach, readyThrough } from "../reached.ts";
import { REJOIN_SECONDS, rejoinedScript } from "../rejoined.ts";
import { disksOf, identity, size, sizes } from "./changes.ts";
import { containerArgs, type GuestContext, snippetOf, vmArgs } from "./guest.ts";
import { type GuestPlan, guestTags, imageOf, planGuests } from "./plan.ts";
import { BOOTED, CLOUD_INIT_DONE, dataDiskScript, hostFacts, mountPointScript } from "./storage.ts";

/** From the first try until SSH lets the operator in, first boot included. */
const CONTACT_SECONDS = 300;

/** Of the step that waits for services, first boot and the cluster, each of which has its own bound below this. */
const READY_SECONDS = 1000 + REJOIN_SECONDS;

export interface ProxmoxSiteArgs {
  site: SiteConfig;
  /** How the site is called in messages: meshbench:sites[0]. */
  key: string;
  plans: NodePlan[];
  /** The cluster has no other database node, so that a stop hurts nobody else. */
  alone: boolean;
  /** Of the database nodes of all sites so far; grows. With `rolling` each waits for the one before. */
  before: pulumi.Resource[];
  secrets: Secrets;
  /** Of the database that is to come. */
  engine: Pick<Engine, "host" | "rejoined">;
  context: SiteContext;
}

export class ProxmoxSite extends pulumi.ComponentResource {
  readonly nodes: Node[];
  private readonly provider: proxmox.Provider;
  private readonly image: proxmox.download.File;
  private readonly proxy: Reach["proxy"];

  constructor(args: ProxmoxSiteArgs, opts?: pulumi.ComponentResourceOptions) {
    const { site, plans, secrets, context } = args;
    super("meshbench:sites:Proxmox", site.name, {}, opts);
    const login = loginOf(site, secrets);
    warnOfClear("apiToken" in login ? "proxmoxToken" : "proxmoxPassword");
    this.provider = new proxmox.Provider(
      site.name,
      {
        endpoint: site.endpoint!,
        insecure: site.insecure,
        ...("apiToken" in login
          ? { apiToken: pulumi.secret(login.apiToken) }
          : { username: login.username, password: pulumi.secret(login.password) }),
      },
      { parent: this },
    );
    this.proxy = jumpConnection(site.jump, args.key);
    this.image = this.download(site, context.owned);
    this.nodes = planGuests(site, plans, context.owned.name).map((guest) => this.node(guest, args));
    this.registerOutputs();
  }

  /**
   * `overwrite` off: a changed size at the source would otherwise replace the image, and with it everything built on
   * it.
   */
  private download(site: SiteConfig, owned: Owned): proxmox.download.File {
    const image = imageOf(site, owned);
    return new proxmox.download.File(
      `${site.name}-image`,
      {
        contentType: site.guest === "vm" ? "import" : "vztmpl",
        datastoreId: site.imageDatastore,
        nodeName: site.hypervisor,
        url: image.url,
        fileName: image.fileName,
        checksum: image.checksum,
        checksumAlgorithm: image.algorithm,
        overwrite: false,
        overwriteUnmanaged: true,
        uploadTimeout: 1800,
      },
      { parent: this, provider: this.provider },
    );
  }

  private node(guest: GuestPlan, { site, key, alone, before, secrets, engine, context }: ProxmoxSiteArgs): Node {
    const { name } = guest.node;
    const parent = { parent: this };
    const labels: GuestContext = {
      tags: context.labels["stack-id"].apply((id) => guestTags(context.labels.stack, site.name, id)),
      labels: context.labels,
      publicKey: context.key.publicKey,
      image: this.image.id,
      dataDirectory: engine.host.dataDirectory,
    };
    const isDatabase = guest.node.roles.includes("database");
    const dependsOn = isDatabase
      ? [
          guard(
            name,
            {
              replaced: identity(site, guest, context.owned),
              restarted: size(site, guest),
              grown: sizes(site, guest),
              mayReplace: site.replaceNodes,
              mayRestart: site.rolling || alone,
              replaceKey: `${key}.replaceNodes to true`,
              restartKey: `${key}.rolling to true`,
            },
            parent,
          ),
          ...(site.rolling ? before.slice(-1) : []),
        ]
      : [];
    const made =
      site.guest === "vm"
        ? this.virtualMachine(site, guest, labels, dependsOn)
        : this.container(site, guest, labels, dependsOn);

    const user = site.guest === "vm" ? site.user : "root";
    const reach: Reach = {
      node: name,
      host: made.address,
      port: 22,
      user,
      privateKey: context.key.privateKey,
      proxy: this.proxy,
      timeoutSeconds: CONTACT_SECONDS,
    };
    const contactOpts = { parent: this, deletedWith: made.resource, deleteBeforeReplace: true };
    const verify =
      site.hostKeys === "agent"
        ? pulumi.secret(
            pulumi.output(made.vmId).apply((vmId) => ({
              endpoint: site.endpoint!,
              login: loginOf(site, secrets),
              insecure: site.insecure,
              hypervisor: site.hypervisor,
              vmId,
            })),
          )
        : undefined;
    const hostKey = made.hostKey ?? firstContact(reach, made.identity, verify, contactOpts);

    const bare: Node = {
      ...guest.node,
      lanAddress: made.address,
      publicAddress: guest.publicAddress === undefined ? made.address : pulumi.output(guest.publicAddress),
      behindNat: site.nat,
      connection: connectionOf(reach, hostKey),
      sudo: user !== "root",
      resource: made.resource,
      facts: pulumi.output(undefined).apply((): Record<string, unknown> => ({})),
    };
    const { resource, connection, printed } = readyThrough<Record<string, unknown>>(
      bare,
      readyScript(site, guest, engine),
      Object.values(size(site, guest)),
      parent,
      READY_SECONDS,
    );
    if (isDatabase) before.push(resource);
    const known = {
      kind: site.guest === "vm" ? "Proxmox virtual machine" : "Proxmox container",
      hypervisor: site.hypervisor,
      cores: site.cores,
      memoryMb: site.memoryMb,
      image: imageOf(site, context.owned).fileName,
      datastore: site.datastore,
      ...(guest.storage === undefined ? {} : { storage: { name: guest.storage.name, ...guest.storage.profile } }),
    };
    const disks = site.guest === "vm" ? disksOf(site, guest) : [];
    return {
      ...bare,
      connection,
      // A container's filesystems are grown by Proxmox.
      ...(disks.length === 0 ? {} : { settled: grownDisks({ ...bare, connection }, disks, parent) }),
      facts: pulumi
        .all([printed, made.vmId])
        .apply(([seen, vmId]): Record<string, unknown> => ({ ...known, vmId, seen })),
    };
  }

  private virtualMachine(site: SiteConfig, guest: GuestPlan, labels: GuestContext, dependsOn: pulumi.Resource[]): Made {
    const snippet =
      site.hostKeys === "snippets"
        ? snippetOf(site, guest, labels, { parent: this, provider: this.provider })
        : undefined;
    const vm = new proxmox.VmLegacy(guest.node.name, vmArgs(site, guest, labels, snippet?.file.id), {
      parent: this,
      provider: this.provider,
      dependsOn,
      deleteBeforeReplace: true,
      // The provider sees a change in a disk without `speed` at every run.
      ignoreChanges: ["disks[0].speed", ...(guest.storage?.profile.sizeGb === undefined ? [] : ["disks[1].speed"])],
    });
    const reported = vm.ipv4Addresses.apply(
      (all) => (all ?? []).flat().find((a) => a !== "" && !a.startsWith("127.")) ?? "",
    );
    return {
      resource: vm,
      vmId: vm.vmId,
      address: guest.lanAddress === undefined ? reported : pulumi.output(guest.lanAddress),
      identity: pulumi
        .all([vm.id, vm.macAddresses])
        .apply(([id, macs]) => [id, ...(macs ?? []).filter((m) => m !== "00:00:00:00:00:00")]),
      ...(snippet === undefined ? {} : { hostKey: snippet.hostKey }),
    };
  }

  private container(site: SiteConfig, guest: GuestPlan, labels: GuestContext, dependsOn: pulumi.Resource[]): Made {
    const container = new proxmox.ContainerLegacy(guest.node.name, containerArgs(site, guest, labels), {
      parent: this,
      provider: this.provider,
      dependsOn,
      deleteBeforeReplace: true,
    });
    const reported = container.ipv4.apply(
      (all) =>
        Object.values(all ?? {})
          .find((a) => !a.startsWith("127."))
          ?.split("/")[0] ?? "",
    );
    return {
      resource: container,
      vmId: container.vmId,
      address: guest.lanAddress === undefined ? reported : pulumi.output(guest.lanAddress),
      identity: pulumi
        .all([container.id, container.networkInterfaces])
        .apply(([id, cards]) => [id, ...(cards ?? []).flatMap((c) => c.macAddress ?? [])]),
    };
  }
}

/** Encrypted or not, the program gets a value in clear; which keys are encrypted the engine tells beside it. */
function warnOfClear(name: string): void {
  const key = `${pulumi.getProject()}:${name}`;
  const known = process.env["PULUMI_CONFIG_SECRET_KEYS"];
  if (known === undefined || !pulumi.runtime.allConfig()?.[key] || known.includes(`"${key}"`)) return;
  void pulumi.log.warn(`${key}: stored unencrypted in the stack file; expected a secret, set with --secret`);
}

interface Made {
  resource: pulumi.Resource;
  vmId: pulumi.Output<number>;
  address: pulumi.Output<string>;
  /** What tells this machine from another one under the same name. */
  identity: pulumi.Output<string[]>;
  /** Known beforehand when it was handed over. */
  hostKey?: pulumi.Output<string>;
}

function readyScript(site: SiteConfig, guest: GuestPlan, { host, rejoined }: ProxmoxSiteArgs["engine"]): string {
  const profile = guest.storage?.profile;
  const own =
    profile?.sizeGb === undefined
      ? []
      : [site.guest === "vm" ? dataDiskScript(profile.filesystem, host) : mountPointScript(host.dataDirectory)];
  const back = rejoined !== undefined && guest.node.roles.includes("database") ? [rejoinedScript(rejoined)] : [];
  return [BOOTED, CLOUD_INIT_DONE, ...own, ...back, hostFacts(host.dataDirectory)].join("\n");
}
