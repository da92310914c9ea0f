/** The arguments of virtual machines and containers, as the provider takes them. */

import * as proxmox from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";
import type { ProxmoxSite } from "../../config/sites/proxmox.ts";
import { operatorKey } from "../../identity/identity.ts";
import { cloudInit } from "../cloud-init.ts";
import type { SiteContext } from "../context.ts";
import type { GuestPlan } from "./plan.ts";
import { DATA_SERIAL } from "./storage.ts";

export interface GuestContext {
  tags: pulumi.Output<string[]>;
  labels: SiteContext["labels"];
  publicKey: pulumi.Output<string>;
  image: pulumi.Output<string>;
  /** The database's. */
  dataDirectory: string;
}

/** Seconds. The provider's own bounds are up to half an hour, also for a guest that some task keeps locked. */
const BOUNDS = {
  timeoutCreate: 900,
  timeoutStartVm: 300,
  timeoutStopVm: 300,
  timeoutShutdownVm: 300,
  timeoutReboot: 300,
};

/** What tags cannot hold: upper case, colons, time. */
function description({ labels }: GuestContext): pulumi.Output<string> {
  return pulumi.interpolate`meshbench: project ${labels.project}, stack ${labels.stack}, id ${labels["stack-id"]}, owner ${labels.owner}, expires ${labels.expires}`;
}

const network = (site: ProxmoxSite, guest: GuestPlan) => ({
  ipConfigs: [
    {
      ipv4: {
        address: guest.address,
        ...(guest.address === "dhcp" || site.gateway === undefined ? {} : { gateway: site.gateway }),
      },
    },
  ],
  ...(site.dns.length === 0 ? {} : { dns: { servers: site.dns } }),
});

const placed = (site: ProxmoxSite, guest: GuestPlan) => ({
  nodeName: site.hypervisor,
  ...(guest.vmId === undefined ? {} : { vmId: guest.vmId }),
  ...(site.pool === undefined ? {} : { poolId: site.pool }),
});

/** Of all disks of a virtual machine. */
export const diskOptions = ({ storage }: GuestPlan) => ({
  cache: storage?.profile.cache ?? "none",
  discard: (storage?.profile.discard ?? true) ? "on" : "ignore",
  iothread: storage?.profile.iothread ?? true,
  ssd: storage?.profile.ssd ?? false,
});

export function vmArgs(
  site: ProxmoxSite,
  guest: GuestPlan,
  context: GuestContext,
  userDataFileId: pulumi.Input<string> | undefined,
): proxmox.VmLegacyArgs {
  const profile = guest.storage?.profile;
  const options = diskOptions(guest);
  const root = {
    interface: "scsi0",
    datastoreId: site.datastore,
    importFrom: context.image,
    size: site.diskGb,
    ...options,
  };
  const data =
    profile?.sizeGb === undefined
      ? []
      : [
          {
            interface: "scsi1",
            datastoreId: profile.datastore ?? site.datastore,
            size: profile.sizeGb,
            fileFormat: "raw",
            serial: DATA_SERIAL,
            ...options,
          },
        ];
  return {
    ...placed(site, guest),
    ...BOUNDS,
    name: guest.name,
    description: description(context),
    tags: context.tags,
    cpu: { cores: site.cores, type: site.cpuType },
    memory: { dedicated: site.memoryMb },
    operatingSystem: { type: "l26" },
    // One controller per disk: what iothread needs.
    scsiHardware: "virtio-scsi-single",
    disks: [root, ...data],
    networkDevices: [
      { bridge: site.bridge, model: "virtio", ...(site.vlan === undefined ? {} : { vlanId: site.vlan }) },
    ],
    initialization: {
      datastoreId: site.datastore,
      ...network(site, guest),
      ...(userDataFileId === undefined
        ? { userAccount: { username: site.user, keys: [context.publicKey] } }
        : { userDataFileId }),
    },
    // Without the flag said explicitly, an image's or template's own would decide, and a missing agent be waited for.
    agent: { enabled: site.agent, ...(site.agent ? { timeout: "5m" } : {}) },
    // Debian's cloud images write to the first serial port when there is one, and stop at its absence in some versions.
    serialDevices: [{ device: "socket" }],
    onBoot: false,
    started: true,
    stopOnDestroy: true,
  };
}

export function containerArgs(site: ProxmoxSite, guest: GuestPlan, context: GuestContext): proxmox.ContainerLegacyArgs {
  const profile = guest.storage?.profile;
  return {
    ...placed(site, guest),
    timeoutCreate: 900,
    timeoutStart: 300,
    timeoutDelete: 300,
    description: description(context),
    tags: context.tags,
    cpu: { cores: site.cores },
    memory: { dedicated: site.memoryMb },
    operatingSystem: { templateFileId: context.image, type: "debian" },
    disk: { datastoreId: site.datastore, size: site.diskGb },
    // Here a size is text; a number would give 0 GiB.
    ...(profile?.sizeGb === undefined
      ? {}
      : {
          mountPoints: [
            {
              path: context.dataDirectory,
              volume: profile.datastore ?? site.datastore,
              size: `${profile.sizeGb}G`,
              backup: false,
            },
          ],
        }),
    networkInterfaces: [
      { name: "eth0", bridge: site.bridge, ...(site.vlan === undefined ? {} : { vlanId: site.vlan }) },
    ],
    initialization: { hostname: guest.name, ...network(site, guest), userAccount: { keys: [context.publicKey] } },
    unprivileged: true,
    // systemd of Debian 12 in an unprivileged container wants it.
    features: { nesting: true },
    ...(site.wireguard === "tun" ? { devicePassthroughs: [{ path: "/dev/net/tun", mode: "0666" }] } : {}),
    startOnBoot: false,
    started: true,
  };
}

/**
 * User data as a snippet, with a host key that is known before the machine is: the provider brings it by SSH to the
 * hypervisor.
 */
export function snippetOf(
  site: ProxmoxSite,
  guest: GuestPlan,
  context: GuestContext,
  opts: pulumi.CustomResourceOptions,
): { file: proxmox.FileLegacy; hostKey: pulumi.Output<string> } {
  const pair = operatorKey(
    `${guest.node.name}-host-key`,
    guest.name,
    opts.parent === undefined ? {} : { parent: opts.parent },
  );
  const hostKey = pair.publicKey.apply((text) => text.trim().split(" ").slice(0, 2).join(" "));
  const data = pulumi.all([context.publicKey, pair.privateKey, hostKey]).apply(([publicKey, privateKey, shown]) =>
    cloudInit({
      user: site.user,
      authorizedKeys: [publicKey],
      hostname: guest.name,
      hostKey: { private: privateKey, public: shown },
      ...(site.agent ? { packages: ["qemu-guest-agent"] } : {}),
    }),
  );
  const file = new proxmox.FileLegacy(
    `${guest.node.name}-user-data`,
    {
      contentType: "snippets",
      datastoreId: site.snippets!,
      nodeName: site.hypervisor,
      sourceRaw: { fileName: `${guest.name}-user-data.yaml`, data: pulumi.secret(data) },
    },
    opts,
  );
  return { file, hostKey };
}
