/** Whether the ids and addresses that a Proxmox site's guests are to have are free. */
import { connect } from "node:net";
import type { ProxmoxSite } from "../config/sites/proxmox.ts";
import type { Ask } from "../sites/proxmox/api.ts";
import { type GuestPlan, idTag } from "../sites/proxmox/plan.ts";
import { type Check, failed, passed, skipped } from "./check.ts";
import type { Owned } from "./owned.ts";

interface Guest {
  vmid: number;
  name?: string;
  tags?: string;
  node?: string;
}

/** A guest that has one of the ids would be taken over by the provider, and deleted with the stack. */
export async function guestChecks(
  site: ProxmoxSite,
  key: string,
  guests: GuestPlan[],
  owned: Owned,
  ask: Ask,
): Promise<Check[]> {
  const there = await ask<Guest[]>("/cluster/resources?type=vm");
  const isOurs = (g: Guest, { name }: GuestPlan): boolean =>
    owned.id !== undefined && g.name === name && (g.tags ?? "").split(/[;, ]/).includes(idTag(owned.id));
  const checks = guests.flatMap((plan) => {
    const holder = plan.vmId === undefined ? undefined : there.find((g) => g.vmid === plan.vmId);
    if (plan.vmId === undefined) return [];
    return [
      holder === undefined || isOurs(holder, plan)
        ? passed(`id ${plan.vmId}`, "is free")
        : failed(
            `id ${plan.vmId}`,
            `${key}.vmId: ${plan.vmId} for ${plan.node.name}, which "${holder.name ?? holder.vmid}" on ${holder.node ?? "the cluster"} has; expected a free range, or no such key`,
          ),
    ];
  });
  const fresh = guests.filter((plan) => plan.lanAddress !== undefined && !there.some((g) => isOurs(g, plan)));
  if (fresh.length === 0) return checks;
  if (site.jump) return [...checks, skipped(`addresses of site ${site.name}`, "lie behind a jump host")];
  const answers = await Promise.all(
    fresh.map(async (plan) => ((await answersAt(plan.lanAddress!)) ? plan : undefined)),
  );
  const taken = answers
    .filter((p) => p !== undefined)
    .map((plan) =>
      failed(
        `address ${plan.lanAddress}`,
        `${key}.address: ${plan.lanAddress} for ${plan.node.name}, where SSH answers already; expected a free range`,
      ),
    );
  return [
    ...checks,
    ...taken,
    ...(taken.length === 0 ? [passed(`addresses of site ${site.name}`, "no SSH answers there yet")] : []),
  ];
}

/** Whether SSH is at that address. Silence or a refusal may come from a firewall or router, and tells nothing. */
function answersAt(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: 22 });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1500, () => end(false));
    socket.on("connect", () => end(true));
    socket.on("error", () => end(false));
  });
}
