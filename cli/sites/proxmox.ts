import type { SiteCommands } from "./kind.ts";

export const proxmox: SiteCommands = {
  where: "proxmox",
  inCloud: true,
  needsLocalNodes: false,
  provider: { plugin: "proxmoxve", package: "@muhlba91/pulumi-proxmoxve" },
  leftovers: async ({ project, known, stacks, ownIds, now }) => {
    const { hostsOf, lookAtProxmox } = await import("../leftovers/proxmox.ts");
    const { hosts, skipped } = hostsOf(known);
    const held = (vmId: number, name: string): boolean =>
      stacks.some(({ holds }) => holds(String(vmId)) && holds(name));
    const look = await lookAtProxmox({ project, hosts, held, ownIds, now });
    return { found: look.found, skipped: [...skipped, ...look.skipped] };
  },
  recover: async (...args) => (await import("../leftovers/lost-proxmox.ts")).recover(...args),
  /** A Proxmox host carries one leg at a time. */
  room: null,
};
