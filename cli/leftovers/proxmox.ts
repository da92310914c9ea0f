/** Guests with the project's tag on the Proxmox hosts that stacks here have an address and a login for. */
import { setTimeout as sleep } from "node:timers/promises";
import { loginOf, type ProxmoxSite, proxmoxSite } from "../../infra/config/sites/proxmox.ts";
import { callProxmox, type ProxmoxApi, ProxmoxError } from "../../infra/sites/proxmox/api.ts";
import { isExpired, type Labels, type Look, type Removable } from "./item.ts";

export interface Guest {
  vmid: number;
  node: string;
  type: "qemu" | "lxc";
  name?: string;
  tags?: string;
  status?: string;
}

/** The labels out of the description that the program writes; of another project, or none of ours: undefined. Pure. */
export function labelsIn(description: string | undefined, project: string): Labels | undefined {
  const found = /^meshbench: project (\S+), stack (\S+), (?:id (\S+), )?owner (.*), expires (\S+)/m.exec(
    decoded(description ?? ""),
  );
  if (!found || found[1] !== project) return undefined;
  return { stack: found[2], stackId: found[3], owner: found[4], expires: found[5] };
}

/** Proxmox keeps descriptions percent-encoded in its files, and some versions answer so. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Hosts to ask, each once, and sites that cannot be asked, with the reason. Pure. */
export function hostsOf(stacks: { stack: string; raw: Record<string, unknown>; sealed: string[] }[]): {
  hosts: Map<string, ProxmoxApi>;
  skipped: string[];
} {
  const hosts = new Map<string, ProxmoxApi>(),
    unasked = new Map<string, string[]>();
  for (const { stack, raw, sealed } of stacks) {
    for (const given of Array.isArray(raw["sites"]) ? (raw["sites"] as unknown[]) : []) {
      if ((given as { kind?: unknown } | null)?.kind !== "proxmox") continue;
      const parsed = proxmoxSite.safeParse(given);
      const site: ProxmoxSite | undefined = parsed.data;
      const login = site && loginOf(site, raw);
      const said = (why: string): void => void unasked.set(why, [...(unasked.get(why) ?? []), stack]);
      if (!site || !login) said("its site is not configured as it must be (meshbench doctor)");
      else if (site.endpoint === undefined) said("no endpoint is set");
      else if (Object.values(login).includes(""))
        said(`no ${"apiToken" in login ? "meshbench:proxmoxToken" : "meshbench:proxmoxPassword"} is set`);
      else if (sealed.some((key) => key.startsWith("proxmox"))) said("its login is encrypted and cannot be read here");
      else if (!hosts.has(site.endpoint))
        hosts.set(site.endpoint, { endpoint: site.endpoint, login, insecure: site.insecure });
    }
  }
  return { hosts, skipped: [...unasked].map(([why, names]) => `Proxmox of ${[...new Set(names)].join(", ")}: ${why}`) };
}

export interface ProxmoxQuestion {
  project: string;
  hosts: Map<string, ProxmoxApi>;
  held: (vmId: number, name: string) => boolean;
  /** Of stacks of this backend, or made from this checkout. */
  ownIds: Set<string>;
  now: number;
}

export async function lookAtProxmox({ project, hosts, held, ownIds, now }: ProxmoxQuestion): Promise<Look> {
  const looks = await Promise.all(
    [...hosts.values()].map(async (api): Promise<Look> => {
      try {
        const guests = (await callProxmox<Guest[]>(api, "GET", "/cluster/resources?type=vm")).filter((g) =>
          (g.tags ?? "").split(/[;, ]/).includes("meshbench"),
        );
        const found = await Promise.all(
          guests.map(async (guest): Promise<Removable[]> => {
            const { description } = await callProxmox<{ description?: string }>(api, "GET", `${pathOf(guest)}/config`);
            const labels = labelsIn(description, project);
            if (!labels || held(guest.vmid, guest.name ?? "")) return [];
            return [
              {
                place: "proxmox",
                name: `${new URL(api.endpoint).host} ${guest.vmid}`,
                ...labels,
                expired: isExpired(labels.expires, now),
                foreign: !ownIds.has(labels.stackId ?? ""),
                what: `${guest.type === "qemu" ? "virtual machine" : "container"} ${guest.name ?? ""} on ${guest.node}, ${guest.status ?? "unknown"}`,
                remove: (say) => removeGuest(api, guest, say),
              },
            ];
          }),
        );
        return { found: found.flat(), skipped: [] };
      } catch (error) {
        if (!(error instanceof ProxmoxError)) throw error;
        return {
          found: [],
          skipped: [
            `Proxmox at ${api.endpoint}: ${error.status === 0 ? "cannot be reached from here" : "does not answer as asked"} (${error.message})`,
          ],
        };
      }
    }),
  );
  return { found: looks.flatMap((l) => l.found), skipped: looks.flatMap((l) => l.skipped) };
}

export const pathOf = ({ node, type, vmid }: Guest): string => `/nodes/${encodeURIComponent(node)}/${type}/${vmid}`;

/**
 * A clone or a creation that failed can leave its lock in the guest's configuration. Only root may pass over it: a token
 * of any rights may not, nor root by a token.
 */
export async function removeGuest(api: ProxmoxApi, guest: Guest, say: (line: string) => void): Promise<void> {
  const { lock } = await callProxmox<{ lock?: string }>(api, "GET", `${pathOf(guest)}/config`);
  const isRoot = "username" in api.login && guest.type === "qemu";
  if (lock !== undefined && !isRoot)
    throw new Error(
      `${guest.type === "qemu" ? "virtual machine" : "container"} ${guest.vmid} (${guest.name ?? "no name"}) is locked by a task (${lock}); when none is under way, run \`${guest.type === "qemu" ? "qm" : "pct"} unlock ${guest.vmid}\` as root on ${guest.node}, then this again`,
    );
  const force = lock === undefined ? "" : "skiplock=1";
  if (guest.status === "running") {
    say(`stopping ${guest.vmid}`);
    await finished(
      api,
      guest.node,
      await callProxmox<string>(
        api,
        "POST",
        `${pathOf(guest)}/status/stop`,
        force === "" ? undefined : { skiplock: 1 },
      ),
    );
  }
  say(`deleting ${guest.vmid}`);
  await finished(
    api,
    guest.node,
    await callProxmox<string>(
      api,
      "DELETE",
      `${pathOf(guest)}?purge=1&destroy-unreferenced-disks=1${force === "" ? "" : `&${force}`}`,
    ),
  );
}

const TASK_MS = 300_000;

/** Proxmox answers with a task at once; it is done when the task says so. */
export async function finished(api: ProxmoxApi, node: string, task: string): Promise<void> {
  for (const deadline = Date.now() + TASK_MS; Date.now() < deadline; await sleep(1000)) {
    const { status, exitstatus } = await callProxmox<{ status: string; exitstatus?: string }>(
      api,
      "GET",
      `/nodes/${encodeURIComponent(node)}/tasks/${encodeURIComponent(task)}/status`,
    );
    if (status === "stopped") {
      if (exitstatus === "OK") return;
      throw new Error(`its task ended with ${exitstatus ?? "no word"}`);
    }
  }
  throw new Error(`its task did not end within ${TASK_MS / 1000} s`);
}
