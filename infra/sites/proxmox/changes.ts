/** What a change of a standing guest comes to: another guest, a stop, a larger disk. Pure. */
import type { ProxmoxSite } from "../../config/sites/proxmox.ts";
import type { Owned } from "../../preflight/owned.ts";
import type { Disk } from "../disk-growth.ts";
import { diskOptions } from "./guest.ts";
import { type GuestPlan, imageOf } from "./plan.ts";
import { DATA_MOUNT } from "./storage.ts";

/** Changing one of these makes the provider delete the guest and create another. */
export function identity(site: ProxmoxSite, guest: GuestPlan, owned: Owned): Record<string, string> {
  return {
    hypervisor: site.hypervisor,
    guest: site.guest,
    vmId: guest.vmId === undefined ? "next free" : String(guest.vmId),
    image: imageOf(site, owned).fileName,
    datastore: site.datastore,
    data: guest.storage?.profile.datastore ?? site.datastore,
    // The provider makes a container anew for a mount point of another size.
    ...(site.guest === "lxc" ? { dataGb: String(guest.storage?.profile.sizeGb ?? "none") } : {}),
  };
}

/** A larger disk is taken as the guest runs. A container whose disk gets smaller would be made anew without a word. */
export function sizes(site: ProxmoxSite, guest: GuestPlan): Record<string, number> {
  const data = guest.storage?.profile.sizeGb;
  return {
    diskGb: site.diskGb,
    ...(data === undefined || site.guest === "lxc" ? {} : { "profiles.*.sizeGb": data }),
  };
}

export function disksOf(site: ProxmoxSite, guest: GuestPlan): Disk[] {
  const data = guest.storage?.profile.sizeGb;
  return [{ mount: "/", sizeGb: site.diskGb }, ...(data === undefined ? [] : [{ mount: DATA_MOUNT, sizeGb: data }])];
}

/**
 * Changing one of these makes the provider stop the guest and start it. A disk's options are the hypervisor's own, which
 * it takes up when the guest starts: until then they would be pending, and a run would measure the former ones.
 */
export const size = (site: ProxmoxSite, guest: GuestPlan): Record<string, string> => ({
  cores: String(site.cores),
  memoryMb: String(site.memoryMb),
  ...(site.guest === "vm" ? { cpuType: site.cpuType, ...asText(diskOptions(guest)) } : {}),
});

const asText = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [`disk.${key}`, String(value)]));
