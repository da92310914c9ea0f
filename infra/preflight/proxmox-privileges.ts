/** Which privileges of Proxmox a login needs where, and which of them it lacks. */
import type { ProxmoxSite } from "../config/sites/proxmox.ts";
import type { Ask } from "../sites/proxmox/api.ts";
import { type Check, failed, passed, skipped } from "./check.ts";

/** What making, starting, changing and removing a guest takes, from PVE::API2::Qemu and PVE::API2::LXC. */
const GUEST: Record<ProxmoxSite["guest"], string[]> = {
  vm: [
    "VM.Allocate",
    "VM.Audit",
    "VM.Config.CDROM",
    "VM.Config.CPU",
    "VM.Config.Cloudinit",
    "VM.Config.Disk",
    "VM.Config.HWType",
    "VM.Config.Memory",
    "VM.Config.Network",
    "VM.Config.Options",
    "VM.PowerMgmt",
  ],
  lxc: [
    "VM.Allocate",
    "VM.Audit",
    "VM.Config.CPU",
    "VM.Config.Disk",
    "VM.Config.Memory",
    "VM.Config.Network",
    "VM.Config.Options",
    "VM.PowerMgmt",
  ],
};

/** By path; a guest's may come from the pool that it is put into. */
function needed(site: ProxmoxSite): { paths: string[]; privileges: string[] }[] {
  const disks = new Set([
    site.datastore,
    ...Object.values(site.profiles).flatMap(({ datastore }) => (datastore === undefined ? [] : [datastore])),
  ]);
  const pool = site.pool === undefined ? [] : [`/pool/${site.pool}`];
  return [
    { paths: ["/vms", ...pool], privileges: GUEST[site.guest] },
    ...[...disks].map((name) => ({
      paths: [`/storage/${name}`, ...pool],
      privileges: ["Datastore.AllocateSpace", "Datastore.Audit"],
    })),
    { paths: [`/storage/${site.imageDatastore}`], privileges: ["Datastore.AllocateTemplate", "Datastore.Audit"] },
  ];
}

/** By privilege whether it is propagated; the path's own object holds it. */
type Permissions = Record<string, Record<string, number>>;

export async function privilegeChecks(site: ProxmoxSite, ask: Ask): Promise<Check[]> {
  const check = `privileges at ${site.hypervisor}`;
  const known = new Map<string, string[]>();
  const held = async (path: string): Promise<string[]> => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const answer = await ask<Permissions>(`/access/permissions?path=${encodeURIComponent(path)}`);
    const privileges = Object.keys(answer?.[path] ?? {});
    known.set(path, privileges);
    return privileges;
  };
  const lacking: string[] = [];
  for (const { paths, privileges } of needed(site)) {
    const has = (await Promise.all(paths.map(held))).flat();
    const lacks = privileges.filter((privilege) => !has.includes(privilege));
    if (lacks.length > 0) lacking.push(`${lacks.join(", ")} on ${paths.join(" or ")}`);
  }
  // One that sees nothing at all, not even its own, tells of a host that answers otherwise.
  if ([...known.values()].every((privileges) => privileges.length === 0))
    return [skipped(check, `${site.endpoint} says nothing of what its login may do`)];
  return [
    lacking.length === 0
      ? passed(check, "are all there")
      : failed(
          check,
          `meshbench:proxmoxToken: lacks ${lacking.join("; ")} at ${site.endpoint}; expected a token with the role of docs/proxmox.md (\`pveum acl modify / --tokens 'USER@REALM!ID' --roles Meshbench\`, or a token without privilege separation whose user has it)`,
        ),
  ];
}
