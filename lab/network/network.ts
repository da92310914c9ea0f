/**
 * The network of a lab: a namespace per site with a router and a LAN, a core that joins them
 * through the relay (wan.c), and a link to the operator that bypasses it.
 *
 *   operator --- core ===(wan0: relay)   every packet from site to site goes through wan0;
 *               / | \                    to and from the operator it does not
 *          site  site  site
 *          nodes nodes nodes
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { listNodes, openLab, paths, readLab, readNode, saveLab, withLabLock } from "../registry.ts";
import { LabError, progress, run } from "../run.ts";
import type { Lab, Link, NetworkRequest, Site } from "../schema.ts";
import { MAX_SITES, names, operatorAddresses, siteAddresses } from "./addresses.ts";
import { ensureNamespace, inNamespace, ip, listLinks, listNamespaces } from "./namespaces.ts";
import { applyRelay, relayRuns, TUN } from "./wan.ts";

/** Routing tables in core: what comes from a site, and what comes out of the relay. */
const FROM_SITE = 100;
const FROM_WAN = 200;

export interface NetworkResult {
  lab: string;
  sites: Record<string, { subnet: string; gateway: string; publicAddress: string; nat: boolean }>;
}

/** Makes what the request says of the lab's sites and links; what is there already stays as it is. */
export function planLab(lab: Lab, request: NetworkRequest): Lab {
  const used = new Set(lab.sites.map((site) => site.index));
  const sites = request.sites.map((wanted): Site => {
    const existing = lab.sites.find((site) => site.name === wanted.name);
    if (existing) return { name: existing.name, index: existing.index, nat: wanted.nat };
    const index = Array.from({ length: MAX_SITES }, (_, i) => i + 1).find((i) => !used.has(i));
    if (index === undefined)
      throw new LabError(`sites: a lab has at most ${MAX_SITES}; take sites away in an apply of its own first`);
    used.add(index);
    return { name: wanted.name, index, nat: wanted.nat };
  });
  const links = request.links.map((link) => {
    const existing = lab.links.find(({ between }) => [...between].sort().join() === [...link.between].sort().join());
    return { ...link, cut: existing?.cut ?? false };
  });
  const stackId = request.stackId ?? lab.stackId;
  return { ...lab, ...(stackId === undefined ? {} : { stackId }), sites, links };
}

/** Sites that are not asked for any more, apart by whether there are nodes in them. */
async function sitesToGo(before: Lab, lab: Lab): Promise<{ leaving: Site[]; gone: Site[] }> {
  const records = await Promise.all((await listNodes(lab.lab)).map((node) => readNode(lab.lab, node)));
  const dropped = before.sites.filter((site) => !lab.sites.some((kept) => kept.name === site.name));
  const inhabited = (site: Site): boolean => records.some((record) => record?.site === site.name);
  return {
    leaving: dropped.filter(inhabited).map((site) => ({ ...site, leaving: true })),
    gone: dropped.filter((site) => !inhabited(site)),
  };
}

/**
 * A site that is not asked for any more goes when it is empty; one that still has nodes stays with its links until
 * `removeIfLeft` has seen the last of them go: who changes a topology takes nodes away after the others have changed.
 *
 * @throws LabError when the lab is another stack's.
 */
export async function applyNetwork(request: NetworkRequest): Promise<NetworkResult> {
  return withLabLock(request.lab, async () => {
    const before = await openLab(request.lab);
    if (before.stackId !== undefined && request.stackId !== undefined && before.stackId !== request.stackId)
      throw new LabError(
        `lab: "${request.lab}" belongs to the stack with the id ${before.stackId}, this one's is ${request.stackId}; take another name for the lab, or remove that one (\`lab purge --lab ${request.lab}\`)`,
      );
    const planned = planLab(before, request);
    const { leaving, gone } = await sitesToGo(before, planned);
    const stays = (link: Link): boolean => link.between.some((end) => leaving.some((site) => site.name === end));
    const lab: Lab = {
      ...planned,
      sites: [...planned.sites, ...leaving],
      links: [...planned.links, ...before.links.filter(stays)],
    };
    await mkdir(paths.nodes(lab.lab), { recursive: true, mode: 0o700 });
    // Saved before the kernel's part: what a killed apply made is found again.
    await saveLab({ ...lab, sites: [...lab.sites, ...gone] });

    await raiseInotifyLimit();
    const existing = await listNamespaces(names.prefix(lab.lab));
    await ensureCore(lab, existing);
    for (const site of gone) await removeSite(lab, site, existing);
    for (const site of lab.sites) await ensureSite(lab, site, existing);
    await routeFromWan(lab);
    await applyRelay(lab);
    await saveLab(lab);
    for (const site of leaving) progress(`site "${site.name}" stays until its last node is gone`);
    progress(`network of lab "${lab.lab}": ${lab.sites.length} sites, ${lab.links.length} links, ${lab.block}`);
    return describe(lab);
  });
}

/** Removes a site that is not asked for any more when its last node has gone. Call without the lab's lock. */
export const removeIfLeft = (name: string, siteName: string): Promise<void> =>
  withLabLock(name, async () => {
    const lab = await readLab(name);
    const site = lab?.sites.find((candidate) => candidate.name === siteName);
    if (!lab || !site?.leaving) return;
    const records = await Promise.all((await listNodes(name)).map((node) => readNode(name, node)));
    if (records.some((record) => record?.site === siteName)) return;
    const left: Lab = {
      ...lab,
      sites: lab.sites.filter((other) => other !== site),
      links: lab.links.filter((link) => !link.between.includes(siteName)),
    };
    await removeSite(lab, site, await listNamespaces(names.prefix(name)));
    await routeFromWan(left);
    await applyRelay(left);
    await saveLab(left);
  });

/** Makes the network again as the lab has it on record, where a restart of the machine or a dead relay has taken it. */
export async function restoreNetwork(lab: Lab): Promise<void> {
  const existing = await listNamespaces(names.prefix(lab.lab));
  const whole = [names.core(lab.lab), ...lab.sites.map((site) => names.site(lab.lab, site.name))];
  if (whole.every((name) => existing.includes(name)) && (await relayRuns(lab.lab))) return;
  progress(`network of lab "${lab.lab}" is not up: made again`);
  const staying = lab.sites.filter((site) => !site.leaving);
  await applyNetwork({
    lab: lab.lab,
    sites: staying.map(({ name, nat }) => ({ name, nat })),
    links: lab.links
      .filter((link) => link.between.every((end) => staying.some((site) => site.name === end)))
      .map(({ cut: _, ...link }) => link),
  });
}

const INOTIFY_INSTANCES = 1024;

/**
 * Each node's systemd takes about six inotify instances of root's, and the kernel's default of 128 ends at twenty
 * nodes.
 */
async function raiseInotifyLimit(): Promise<void> {
  const limit = "/proc/sys/fs/inotify/max_user_instances";
  if (Number(await readFile(limit, "utf8")) >= INOTIFY_INSTANCES) return;
  await writeFile(limit, String(INOTIFY_INSTANCES));
  progress(`fs.inotify.max_user_instances of this machine raised to ${INOTIFY_INSTANCES}, until it restarts`);
}

export function publicAddress(lab: Lab, site: Site): string | undefined {
  return site.nat ? siteAddresses(lab.block, site.index).natAddress : undefined;
}

function describe(lab: Lab): NetworkResult {
  const entries = lab.sites.map((site) => {
    const { subnet, gateway } = siteAddresses(lab.block, site.index);
    return [site.name, { subnet, gateway, publicAddress: publicAddress(lab, site) ?? gateway, nat: site.nat }] as const;
  });
  return { lab: lab.lab, sites: Object.fromEntries(entries) };
}

async function ensureCore(lab: Lab, existing: string[]): Promise<void> {
  const core = names.core(lab.lab);
  const link = names.operatorLink(lab.lab);
  const address = operatorAddresses(lab.block);
  await ensureNamespace(core, existing, true);
  const inCore = await listLinks(core);
  if (!inCore.includes("op0"))
    await run("ip", ["link", "add", link, "type", "veth", "peer", "name", "op0", "netns", core]);
  if (!inCore.includes(TUN)) await ip(core, [`tuntap add dev ${TUN} mode tun`]);
  await ip(core, [
    `addr replace ${address.core}/30 dev op0`,
    "link set op0 up",
    // The queue holds what arrives while the relay waits for a processor.
    `link set ${TUN} mtu 1500 txqueuelen 10000 up`,
    `route replace ${address.network} dev op0 table ${FROM_SITE}`,
    `route replace default dev ${TUN} table ${FROM_SITE}`,
    `route replace unreachable default table ${FROM_WAN}`,
  ]);
  await run("ip", ["addr", "replace", `${address.operator}/30`, "dev", link]);
  await run("ip", ["link", "set", link, "up"]);
  await run("ip", ["route", "replace", lab.block, "via", address.core, "dev", link]);
  await ensureRule(core, TUN, FROM_WAN);
}

async function ensureRule(core: string, input: string, table: number): Promise<void> {
  const rules = JSON.parse(await run("ip", ["-n", core, "-j", "rule", "show"])) as { iif?: string }[];
  if (!rules.some((rule) => rule.iif === input))
    await ip(core, [`rule add pref ${table} iif ${input} lookup ${table}`]);
}

async function ensureSite(lab: Lab, site: Site, existing: string[]): Promise<void> {
  const core = names.core(lab.lab);
  const namespace = names.site(lab.lab, site.name);
  const uplink = names.uplink(site.index);
  const address = siteAddresses(lab.block, site.index);
  await ensureNamespace(namespace, existing, true);
  const inSite = await listLinks(namespace);
  if (!inSite.includes("up0")) await ip(core, [`link add ${uplink} type veth peer name up0 netns ${namespace}`]);
  if (!inSite.includes("br0")) await ip(namespace, ["link add br0 type bridge forward_delay 0 mcast_snooping 0"]);
  await ip(namespace, [
    `addr replace ${address.siteSide}/30 dev up0`,
    "link set up0 up",
    `addr replace ${address.gateway}/24 dev br0`,
    "link set br0 up",
    `route replace default via ${address.coreSide}`,
  ]);
  await ip(core, [
    `addr replace ${address.coreSide}/30 dev ${uplink}`,
    `link set ${uplink} up`,
    `route replace ${address.subnet} via ${address.siteSide}`,
    `route replace ${address.natAddress} via ${address.siteSide}`,
  ]);
  await ensureRule(core, uplink, FROM_SITE);
  await applyNat(lab, site, namespace);
}

/**
 * A NAT site: its nodes go out with one address, and nobody but the operator opens a connection to them.
 * What comes unasked is dropped before it makes a connection-tracking entry, as home routers do:
 * an entry would take the port that the node's own WireGuard packets need.
 */
export function natRules(lab: Lab, site: Site): string {
  if (!site.nat) return "*nat\nCOMMIT\n*filter\nCOMMIT\n";
  const { subnet, natAddress } = siteAddresses(lab.block, site.index);
  const { network } = operatorAddresses(lab.block);
  return `*nat
-A POSTROUTING -s ${subnet} -o up0 ! -d ${network} -j SNAT --to-source ${natAddress}
COMMIT
*filter
-A INPUT -i up0 -d ${natAddress} -m conntrack --ctstate NEW,INVALID -j DROP
-A FORWARD -i up0 ! -s ${network} -m conntrack --ctstate NEW,INVALID -j DROP
COMMIT
`;
}

async function applyNat(lab: Lab, site: Site, namespace: string): Promise<void> {
  const { natAddress } = siteAddresses(lab.block, site.index);
  const addresses = JSON.parse(await run("ip", ["-n", namespace, "-j", "addr", "show", "dev", "lo"])) as {
    addr_info: { local: string }[];
  }[];
  const had = addresses[0]?.addr_info.some((entry) => entry.local === natAddress) ?? false;
  if (!site.nat && !had) return;
  await inNamespace(namespace, ["iptables-restore"], natRules(lab, site));
  if (site.nat && !had) await ip(namespace, [`addr add ${natAddress}/32 dev lo`]);
  if (!site.nat && had) await ip(namespace, [`addr del ${natAddress}/32 dev lo`]);
}

/** What the relay writes back reaches public addresses only: LANs, and the routers of NAT sites. */
async function routeFromWan(lab: Lab): Promise<void> {
  const core = names.core(lab.lab);
  const wanted = lab.sites.map((site) => {
    const { subnet, natAddress, siteSide } = siteAddresses(lab.block, site.index);
    return { to: site.nat ? natAddress : subnet, via: siteSide };
  });
  const table = JSON.parse(await run("ip", ["-n", core, "-j", "route", "show", "table", String(FROM_WAN)])) as {
    dst: string;
  }[];
  const stale = table
    .map((route) => route.dst)
    .filter((dst) => dst !== "default" && !wanted.some(({ to }) => to === dst));
  await ip(core, [
    ...wanted.map(({ to, via }) => `route replace ${to} via ${via} table ${FROM_WAN}`),
    ...stale.map((dst) => `route del ${dst} table ${FROM_WAN}`),
  ]);
}

async function removeSite(lab: Lab, site: Site, existing: string[]): Promise<void> {
  const core = names.core(lab.lab);
  const uplink = names.uplink(site.index);
  const rules = JSON.parse(await run("ip", ["-n", core, "-j", "rule", "show"])) as { iif?: string }[];
  if (rules.some((rule) => rule.iif === uplink)) await ip(core, [`rule del iif ${uplink}`]);
  if ((await listLinks(core)).includes(uplink)) await ip(core, [`link del ${uplink}`]);
  const namespace = names.site(lab.lab, site.name);
  if (existing.includes(namespace)) await run("ip", ["netns", "delete", namespace]);
}
