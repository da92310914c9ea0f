/** Asks Proxmox hosts, before anything is created, whether they could do what the configuration wants. Reads only. */
import type { Config } from "../config/schema.ts";
import { loginOf, needsRoot, type ProxmoxSite, profileOf } from "../config/sites/proxmox.ts";
import { type Ask, callProxmox, type ProxmoxApi, type ProxmoxError } from "../sites/proxmox/api.ts";
import { type GuestPlan, imageOf, planGuests } from "../sites/proxmox/plan.ts";
import type { NodePlan } from "../topology.ts";
import { type Check, failed, passed, skipped } from "./check.ts";
import type { Owned } from "./owned.ts";
import { guestChecks } from "./proxmox-guests.ts";
import { privilegeChecks } from "./proxmox-privileges.ts";

interface Storage {
  storage: string;
  content: string;
  active?: number;
  enabled?: number;
  avail?: number;
}
/**
 * Major and minor. Virtual machines: the first whose content type `import` takes .qcow2 files by a download; older ones
 * refuse the name ("wrong file extension"). Containers: the first that the provider speaks with.
 */
const OLDEST: Record<ProxmoxSite["guest"], [major: number, minor: number]> = { vm: [8, 4], lxc: [8, 0] };

/** "8.4.1", and "8.0-beta1" as some answer. */
function isOlder(version: string, [major, minor]: [number, number]): boolean {
  const [, a = "0", b = "0"] = /^(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  return Number(a) < major || (Number(a) === major && Number(b) < minor);
}

export async function checkProxmoxSites(
  config: Config,
  plans: NodePlan[],
  owned: Owned,
  ask?: (site: ProxmoxSite) => Ask,
): Promise<Check[]> {
  const sites = config.sites.flatMap((site, i) =>
    site.kind === "proxmox" ? [{ site, key: `meshbench:sites[${i}]` }] : [],
  );
  const all = await Promise.all(
    sites.map(({ site, key }) => {
      const api: ProxmoxApi = { endpoint: site.endpoint!, login: loginOf(site, config), insecure: site.insecure };
      return checkSite(
        site,
        key,
        planGuests(
          site,
          plans.filter((p) => p.site === site.name),
          owned.name,
        ),
        owned,
        ask ? ask(site) : (path) => callProxmox(api, "GET", path),
      );
    }),
  );
  return all.flat();
}

async function checkSite(
  site: ProxmoxSite,
  key: string,
  guests: GuestPlan[],
  owned: Owned,
  ask: Ask,
): Promise<Check[]> {
  const api = await apiCheck(site, key, ask);
  if (!api.ok) return [api];
  const hypervisor = await asked(`node ${site.hypervisor}`, key, () => hypervisorCheck(site, key, guests, ask));
  if (hypervisor.some((c) => !c.ok)) return [api, ...hypervisor];
  const rest = await Promise.all([
    // root@pam may do everything.
    ...(needsRoot(site) ? [] : [asked(`privileges at ${site.hypervisor}`, key, () => privilegeChecks(site, ask))]),
    asked(`storages of ${site.hypervisor}`, key, () => storageChecks(site, key, guests, ask)),
    asked(`bridge ${site.bridge}`, key, () => bridgeCheck(site, key, ask)),
    asked(`image of site ${site.name}`, key, () => imageCheck(site, key, owned, ask)),
    asked(`guests of site ${site.name}`, key, () => guestChecks(site, key, guests, owned, ask)),
    ...(site.pool === undefined ? [] : [asked(`pool ${site.pool}`, key, () => poolCheck(site, key, ask))]),
  ]);
  return [api, ...hypervisor, ...rest.flat()];
}

/** What the login may not ask says nothing about the configuration. */
async function asked(check: string, key: string, question: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await question();
  } catch (error) {
    const { status, message } = error as ProxmoxError;
    return [
      skipped(
        check,
        status === 403 ? `the login of ${key} may not ask for it (${message})` : `could not be asked (${message})`,
      ),
    ];
  }
}

async function apiCheck(site: ProxmoxSite, key: string, ask: Ask): Promise<Check> {
  const check = `Proxmox API of site ${site.name}`;
  try {
    const { version } = await ask<{ version: string }>("/version");
    const oldest = OLDEST[site.guest];
    if (isOlder(version, oldest))
      return failed(
        check,
        `${key}.endpoint: ${site.endpoint} is Proxmox VE ${version}; expected ${oldest.join(".")} or newer for guest "${site.guest}"${site.guest === "vm" ? " (older ones import no .qcow2 image)" : ""}`,
      );
    return passed(check, `${site.endpoint} is Proxmox VE ${version}`);
  } catch (error) {
    const { status, message } = error as ProxmoxError;
    const secret = needsRoot(site) ? "meshbench:proxmoxPassword" : "meshbench:proxmoxToken";
    if (status === 401)
      return failed(
        check,
        `${secret} is not accepted by ${site.endpoint}: it is wrong, has expired or was removed; make another one and set it with --secret`,
      );
    if (/certificate|altname|self.signed|issuer/i.test(message))
      return failed(
        check,
        `${key}.endpoint: ${site.endpoint}, whose certificate is not trusted (${message}); expected its authority in NODE_EXTRA_CA_CERTS and SSL_CERT_FILE, or set ${key}.insecure to true`,
      );
    return failed(
      check,
      `${key}.endpoint: ${site.endpoint}, which does not answer as a Proxmox API (${message}); expected host and port of one that this machine can reach`,
    );
  }
}

async function hypervisorCheck(site: ProxmoxSite, key: string, guests: GuestPlan[], ask: Ask): Promise<Check[]> {
  const check = `node ${site.hypervisor}`;
  const nodes = await ask<{ node: string; status?: string; maxmem?: number; maxcpu?: number }[]>("/nodes");
  const node = nodes.find((n) => n.node === site.hypervisor);
  if (!node)
    return [
      failed(check, `${key}.hypervisor: "${site.hypervisor}"; expected one of ${nodes.map((n) => n.node).join(", ")}`),
    ];
  if (node.status !== undefined && node.status !== "online")
    return [
      failed(check, `${key}.hypervisor: "${site.hypervisor}", which is ${node.status}; expected one that is online`),
    ];
  const wanted = guests.length * site.memoryMb * 2 ** 20;
  if (node.maxmem !== undefined && wanted > node.maxmem)
    return [
      failed(
        check,
        `${key}.memoryMb: ${site.memoryMb} for each of ${guests.length} guests; expected no more in all than the ${Math.floor(node.maxmem / 2 ** 20)} MiB of ${site.hypervisor}`,
      ),
    ];
  if (node.maxcpu !== undefined && site.cores > node.maxcpu)
    return [
      failed(check, `${key}.cores: ${site.cores}; expected at most ${node.maxcpu}, which ${site.hypervisor} has`),
    ];
  return [passed(check, `${site.hypervisor} is online`)];
}

async function storageChecks(site: ProxmoxSite, key: string, guests: GuestPlan[], ask: Ask): Promise<Check[]> {
  const storages = await ask<Storage[]>(`/nodes/${site.hypervisor}/storage`);
  const guestContent = site.guest === "vm" ? "images" : "rootdir";
  const wanted: { key: string; name: string; content: string; gb: number }[] = [
    {
      key: `${key}.imageDatastore`,
      name: site.imageDatastore,
      content: site.guest === "vm" ? "import" : "vztmpl",
      gb: 1,
    },
    { key: `${key}.datastore`, name: site.datastore, content: guestContent, gb: site.diskGb * guests.length },
    ...guests.flatMap((g, i) =>
      g.storage?.profile.datastore === undefined
        ? []
        : [
            {
              key: `${key}.profiles.${profileOf(site, i)?.name ?? g.storage.name}.datastore`,
              name: g.storage.profile.datastore,
              content: guestContent,
              gb: g.storage.profile.sizeGb ?? 0,
            },
          ],
    ),
    ...(site.snippets === undefined
      ? []
      : [{ key: `${key}.snippets`, name: site.snippets, content: "snippets", gb: 0 }]),
  ];
  const seen = new Set<string>();
  return wanted
    .filter((w) => !seen.has(w.key) && seen.add(w.key))
    .map((w) => {
      const check = `storage ${w.name} (${w.content})`;
      const found = storages.find((s) => s.storage === w.name);
      if (!found)
        return failed(
          check,
          `${w.key}: "${w.name}"; expected ${storages.length > 0 ? `one of ${storages.map((s) => s.storage).join(", ")}` : "a login that sees a storage"}`,
        );
      const content = found.content.split(",");
      if (!content.includes(w.content))
        return failed(
          check,
          `${w.key}: "${w.name}", whose content types are ${found.content}; expected "${w.content}" among them (Datacenter, Storage, Edit), or another storage`,
        );
      if (found.active === 0 || found.enabled === 0)
        return failed(
          check,
          `${w.key}: "${w.name}", which is not in service on ${site.hypervisor}; expected one that is`,
        );
      return passed(
        check,
        found.avail === undefined
          ? `holds ${w.content}`
          : `holds ${w.content}, ${Math.floor(found.avail / 2 ** 30)} GiB free${found.avail / 2 ** 30 < w.gb ? `, less than the ${w.gb} GiB of all disks together (thin volumes grow into it)` : ""}`,
      );
    });
}

async function bridgeCheck(site: ProxmoxSite, key: string, ask: Ask): Promise<Check[]> {
  const check = `bridge ${site.bridge}`;
  const all = await ask<{ iface: string; type: string }[]>(`/nodes/${site.hypervisor}/network?type=any_bridge`);
  if (all.length === 0) return [skipped(check, `the login of ${key} sees no network of ${site.hypervisor}`)];
  return [
    all.some((n) => n.iface === site.bridge)
      ? passed(check, "is there")
      : failed(check, `${key}.bridge: "${site.bridge}"; expected one of ${all.map((n) => n.iface).join(", ")}`),
  ];
}

/** Asked through the hypervisor, which is what will download it. */
async function imageCheck(site: ProxmoxSite, key: string, owned: Owned, ask: Ask): Promise<Check[]> {
  const check = `image of site ${site.name}`;
  const image = imageOf(site, owned);
  const volume = `${site.imageDatastore}:${site.guest === "vm" ? "import" : "vztmpl"}/${image.fileName}`;
  const there = await ask<{ volid: string }[]>(
    `/nodes/${site.hypervisor}/storage/${site.imageDatastore}/content`,
  ).catch(() => []);
  if (there.some((v) => v.volid === volume)) return [passed(check, `${image.fileName} is there already`)];
  try {
    await ask(`/nodes/${site.hypervisor}/query-url-metadata?url=${encodeURIComponent(image.url)}`);
    return [passed(check, `${image.url} answers`)];
  } catch (error) {
    const { status, message } = error as ProxmoxError;
    if (status === 403) throw error;
    return [
      failed(
        check,
        `${key}.image.url: ${image.url}, which ${site.hypervisor} cannot fetch (${message}); expected another dated image with its checksum`,
      ),
    ];
  }
}

async function poolCheck(site: ProxmoxSite, key: string, ask: Ask): Promise<Check[]> {
  const pools = await ask<{ poolid: string }[]>("/pools");
  return [
    pools.some((p) => p.poolid === site.pool)
      ? passed(`pool ${site.pool}`, "is there")
      : failed(
          `pool ${site.pool}`,
          `${key}.pool: "${site.pool}"; expected ${pools.length > 0 ? `one of ${pools.map((p) => p.poolid).join(", ")}` : "no such key: there is no pool"}`,
        ),
  ];
}
