/** A site on a Proxmox VE host: an image, and per node a virtual machine or a container. No SSH to the hypervisor. */
import * as pulumi from "@pulumi/pulumi";
import * as proxmox from "@muhlba91/pulumi-proxmoxve";
import { loginOf, type ProxmoxSite as SiteConfig, type Secrets } from "../config/proxmox.ts";
import type { Node } from "../node.ts";
import type { NodePlan } from "../topology.ts";
import type { SiteContext } from "./context.ts";
import { jumpConnection } from "./keys.ts";
import { guard } from "./guard.ts";
import { containerArgs, snippetOf, vmArgs, type GuestContext } from "./proxmox-guest.ts";
import { guestTags, imageOf, planGuests, type GuestPlan } from "./proxmox-plan.ts";
import { CLOUD_INIT_DONE, dataDiskScript, HOST_FACTS, MOUNT_POINT_SCRIPT } from "./proxmox-storage.ts";
import { connectionOf, firstContact, readyThrough, type Reach } from "./reached.ts";

/** From the first try until SSH lets the operator in, first boot included. */
const CONTACT_SECONDS = 300;

export class ProxmoxSite extends pulumi.ComponentResource {
  readonly nodes: Node[];
  private readonly provider: proxmox.Provider;
  private readonly image: proxmox.download.File;
  private readonly proxy: Reach["proxy"];

  constructor(args: { site: SiteConfig; key: string; plans: NodePlan[]; secrets: Secrets; context: SiteContext }, opts?: pulumi.ComponentResourceOptions) {
    const { site, key, plans, secrets, context } = args;
    super("meshbench:sites:Proxmox", site.name, {}, opts);
    const login = loginOf(site, secrets);
    warnOfClear("apiToken" in login ? "proxmoxToken" : "proxmoxPassword");
    this.provider = new proxmox.Provider(site.name, {
      endpoint: site.endpoint!, insecure: site.insecure,
      ...("apiToken" in login ? { apiToken: pulumi.secret(login.apiToken) } : { username: login.username, password: pulumi.secret(login.password) }),
    }, { parent: this });
    this.proxy = jumpConnection(site.jump, key);
    this.image = this.download(site, context.labels.stack);
    this.nodes = planGuests(site, plans, context.labels.stack).map((guest) => this.node(guest, { site, key, secrets, context }));
    this.registerOutputs();
  }

  /** `overwrite` off: a changed size at the source would otherwise replace the image, and with it everything built on it. */
  private download(site: SiteConfig, stack: string): proxmox.download.File {
    const image = imageOf(site, stack);
    return new proxmox.download.File(`${site.name}-image`, {
      contentType: site.guest === "vm" ? "import" : "vztmpl", datastoreId: site.imageDatastore, nodeName: site.hypervisor,
      url: image.url, fileName: image.fileName, checksum: image.checksum, checksumAlgorithm: image.algorithm,
      overwrite: false, overwriteUnmanaged: true, uploadTimeout: 1800,
    }, { parent: this, provider: this.provider });
  }

  private node(guest: GuestPlan, { site, key, secrets, context }: { site: SiteConfig; key: string; secrets: Secrets; context: SiteContext }): Node {
    const { name } = guest.node;
    const parent = { parent: this };
    const labels: GuestContext = { tags: guestTags(context.labels.stack, site.name), labels: context.labels, publicKey: context.key.publicKey, image: this.image.id };
    const dependsOn = guest.node.roles.includes("database") ? [guard(name, { replaced: identity(site, guest, context.labels.stack), mayReplace: site.replaceNodes, replaceKey: `${key}.replaceNodes to true` }, parent)] : [];
    const made = site.guest === "vm"
      ? this.virtualMachine(site, guest, labels, dependsOn)
      : this.container(site, guest, labels, dependsOn);

    const user = site.guest === "vm" ? site.user : "root";
    const reach: Reach = { node: name, host: made.address, port: 22, user, privateKey: context.key.privateKey, proxy: this.proxy, timeoutSeconds: CONTACT_SECONDS };
    const contactOpts = { parent: this, deletedWith: made.resource, deleteBeforeReplace: true };
    const verify = site.hostKeys === "agent"
      ? pulumi.secret(pulumi.output(made.vmId).apply((vmId) => ({ endpoint: site.endpoint!, login: loginOf(site, secrets), insecure: site.insecure, hypervisor: site.hypervisor, vmId })))
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
    const { connection, printed } = readyThrough<Record<string, unknown>>(bare, readyScript(site, guest), parent);
    const known = {
      kind: site.guest === "vm" ? "Proxmox virtual machine" : "Proxmox container", hypervisor: site.hypervisor, cores: site.cores, memoryMb: site.memoryMb,
      image: imageOf(site, context.labels.stack).fileName, datastore: site.datastore, ...(guest.storage === undefined ? {} : { storage: { name: guest.storage.name, ...guest.storage.profile } }),
    };
    return { ...bare, connection, facts: pulumi.all([printed, made.vmId]).apply(([seen, vmId]): Record<string, unknown> => ({ ...known, vmId, seen })) };
  }

  private virtualMachine(site: SiteConfig, guest: GuestPlan, labels: GuestContext, dependsOn: pulumi.Resource[]): Made {
    const snippet = site.hostKeys === "snippets" ? snippetOf(site, guest, labels, { parent: this, provider: this.provider }) : undefined;
    const vm = new proxmox.VmLegacy(guest.node.name, vmArgs(site, guest, labels, snippet?.file.id), {
      parent: this, provider: this.provider, dependsOn, deleteBeforeReplace: true,
      // The provider sees a change in a disk without `speed` at every run.
      ignoreChanges: ["disks[0].speed", ...(guest.storage?.profile.sizeGb === undefined ? [] : ["disks[1].speed"])],
    });
    const reported = vm.ipv4Addresses.apply((all) => (all ?? []).flat().find((a) => a !== "" && !a.startsWith("127.")) ?? "");
    return {
      resource: vm, vmId: vm.vmId, address: guest.lanAddress === undefined ? reported : pulumi.output(guest.lanAddress),
      identity: pulumi.all([vm.id, vm.macAddresses]).apply(([id, macs]) => [id, ...(macs ?? []).filter((m) => m !== "00:00:00:00:00:00")]),
      ...(snippet === undefined ? {} : { hostKey: snippet.hostKey }),
    };
  }

  private container(site: SiteConfig, guest: GuestPlan, labels: GuestContext, dependsOn: pulumi.Resource[]): Made {
    const container = new proxmox.ContainerLegacy(guest.node.name, containerArgs(site, guest, labels), { parent: this, provider: this.provider, dependsOn, deleteBeforeReplace: true });
    const reported = container.ipv4.apply((all) => Object.values(all ?? {}).find((a) => !a.startsWith("127."))?.split("/")[0] ?? "");
    return {
      resource: container, vmId: container.vmId, address: guest.lanAddress === undefined ? reported : pulumi.output(guest.lanAddress),
      identity: pulumi.all([container.id, container.networkInterfaces]).apply(([id, cards]) => [id, ...(cards ?? []).flatMap((c) => c.macAddress ?? [])]),
    };
  }
}

/** Encrypted or not, the program gets a value in clear; which keys are encrypted the engine tells beside it. */
function warnOfClear(name: string): void {
  const key = `${pulumi.getProject()}:${name}`;
  const known = process.env["PULUMI_CONFIG_SECRET_KEYS"];
  if (known === undefined || !pulumi.runtime.allConfig()?.[key] || known.includes(`"${key}"`)) return;
  void pulumi.log.warn(`${key} stands in the stack's file for anybody to read: set it with --secret`);
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

/** Changing one of these makes the provider delete the guest and create another. */
function identity(site: SiteConfig, guest: GuestPlan, stack: string): Record<string, string> {
  return { hypervisor: site.hypervisor, guest: site.guest, vmId: guest.vmId === undefined ? "next free" : String(guest.vmId), image: imageOf(site, stack).fileName, datastore: site.datastore, data: guest.storage?.profile.datastore ?? site.datastore };
}

function readyScript(site: SiteConfig, guest: GuestPlan): string {
  const profile = guest.storage?.profile;
  const own = profile?.sizeGb === undefined ? [] : [site.guest === "vm" ? dataDiskScript(profile.filesystem) : MOUNT_POINT_SCRIPT];
  return [CLOUD_INIT_DONE, ...own, HOST_FACTS].join("\n");
}
