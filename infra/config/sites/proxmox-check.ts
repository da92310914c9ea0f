/** What can be known to be wrong with a Proxmox site before its host is asked. One sentence per problem. Pure. */
import { networkOf, parseAddress, parseCidr } from "../addresses.ts";
import { neededDiskGb } from "../data-size.ts";
import { missing, type Problem } from "../problem.ts";
import type { Config } from "../schema.ts";
import { needsRoot, type ProxmoxSite, profileOf, type Secrets, secretOf } from "./proxmox.ts";

/** What a token looks like to the provider: USER@REALM!ID=SECRET. */
const TOKEN = /^[^\s@!]+@[^\s@!]+![^\s=!]+=\S+$/;

/** Of the site's own part, where each site has one. */
const keyOf = (name: keyof Secrets, secrets: Secrets, site: string): string =>
  `meshbench:${name}${typeof secrets[name] === "object" && secrets[name] !== null ? `.${site}` : ""}`;

function checkLogin(site: ProxmoxSite, key: string, secrets: Secrets): Problem[] {
  if (needsRoot(site))
    return secretOf(secrets.proxmoxPassword, site.name) === undefined
      ? [
          missing(
            keyOf("proxmoxPassword", secrets, site.name),
            `with ${key}.wireguard "tun", since Proxmox lets only root@pam with its password pass a device through: set it with --secret, or take wireguard "kernel"`,
          ),
        ]
      : [];
  const token = secretOf(secrets.proxmoxToken, site.name);
  const name = keyOf("proxmoxToken", secrets, site.name);
  if (token === undefined)
    return [
      missing(
        name,
        `an API token, set with \`config set --secret ${name.includes(".") ? `--path ${name}` : name} 'USER@REALM!ID=SECRET'\``,
      ),
    ];
  return TOKEN.test(token)
    ? []
    : [
        `${name}: not an API token; expected USER@REALM!ID=SECRET, such as meshbench@pve!bench=00000000-0000-0000-0000-000000000000`,
      ];
}

/** One sentence per problem; never shows a token. `key` is how the site is called: meshbench:sites[1]. */
export function checkProxmoxSite(site: ProxmoxSite, key: string, config: Config): Problem[] {
  const problems: Problem[] = [];
  const example = "such as https://pve.example.org:8006";
  if (site.endpoint === undefined)
    problems.push(missing(`${key}.endpoint`, `the address of the Proxmox API, ${example}`));
  else if (/^http:/i.test(site.endpoint))
    problems.push(
      `${key}.endpoint: "${site.endpoint}"; expected https, over which alone Proxmox serves its API, ${example}`,
    );
  else if (!/^https:\/\/[^/\s]+\/?$/.test(site.endpoint))
    problems.push(`${key}.endpoint: "${site.endpoint}"; expected https://, a host and a port, and no path, ${example}`);

  problems.push(
    ...checkLogin(site, key, config),
    ...checkGuest(site, key),
    ...checkNetwork(site, key),
    ...checkStorage(site, key),
    ...checkDisks(site, key, config),
  );
  return problems;
}

function checkGuest(site: ProxmoxSite, key: string): Problem[] {
  const problems: Problem[] = [];
  if (site.guest === "lxc" && site.agent)
    problems.push(`${key}.agent: true; expected no such key for a container, which has no guest agent`);
  if (site.guest === "lxc" && site.hostKeys !== "first-contact")
    problems.push(
      `${key}.hostKeys: "${site.hostKeys}"; expected "first-contact" for containers, whose keys Proxmox makes`,
    );
  if (site.hostKeys === "agent" && !site.agent)
    problems.push(`${key}.hostKeys: "agent"; expected with ${key}.agent true and an image that runs the guest agent`);
  if (site.hostKeys === "snippets" && site.snippets === undefined)
    problems.push(missing(`${key}.snippets`, `with ${key}.hostKeys "snippets": a storage with content type snippets`));
  if (site.snippets !== undefined && site.hostKeys !== "snippets")
    problems.push(
      `${key}.snippets: "${site.snippets}"; expected with ${key}.hostKeys "snippets" only, which is "${site.hostKeys}"`,
    );
  const image = site.image?.url;
  if (image !== undefined && /\/latest\//.test(image))
    problems.push(
      `${key}.image.url: a path with "latest", which changes under a running stack; expected a dated image`,
    );
  return problems;
}

function checkNetwork(site: ProxmoxSite, key: string): Problem[] {
  const problems: Problem[] = [];
  const needed = '"dhcp", or address and mask of the first database node such as 192.168.1.40/24';
  const cidr = parseCidr(site.address ?? "");
  if (site.address === undefined) problems.push(missing(`${key}.address`, needed));
  else if (site.address === "dhcp") problems.push(...checkDhcp(site, key));
  else if (cidr === undefined) problems.push(`${key}.address: "${site.address}"; expected ${needed}`);
  if (site.address !== "dhcp") problems.push(...checkStatic(site, key, cidr));
  for (const [i, server] of site.dns.entries())
    if (parseAddress(server) === undefined)
      problems.push(`${key}.dns[${i}]: "${server}"; expected an address, not a name`);
  if (site.publicAddress !== undefined && parseAddress(site.publicAddress) === undefined)
    problems.push(`${key}.publicAddress: "${site.publicAddress}"; expected an IPv4 address`);
  if (site.publicAddress !== undefined && site.nat)
    problems.push(
      `${key}.publicAddress: "${site.publicAddress}"; expected no such key with ${key}.nat true: nodes behind NAT have none`,
    );
  return problems;
}

function checkDhcp(site: ProxmoxSite, key: string): Problem[] {
  const problems: Problem[] = [];
  if (site.guest === "vm" && !site.agent)
    problems.push(
      `${key}.address: "dhcp"; expected static addresses, or an image with the guest agent, which tells the address, and ${key}.agent true`,
    );
  if (!site.nat && site.publicAddress === undefined)
    problems.push(
      missing(
        `${key}.publicAddress`,
        `with ${key}.nat false and ${key}.address "dhcp": where other sites reach the nodes`,
      ),
    );
  return problems;
}

/** `cidr` is undefined where the address is missing or no address: what else is missing is said all the same. */
function checkStatic(site: ProxmoxSite, key: string, cidr: ReturnType<typeof parseCidr>): Problem[] {
  const problems: Problem[] = [];
  const network = cidr && networkOf(cidr);
  if (cidr && network && (cidr.address <= network.first || cidr.address + LAST_OFFSET >= network.last))
    problems.push(
      `${key}.address: "${site.address}"; expected one with the ${LAST_OFFSET} addresses after it inside the network`,
    );
  const gateway = parseAddress(site.gateway ?? "");
  const router = "with a static address: the router's address in the same network";
  if (site.gateway === undefined) problems.push(missing(`${key}.gateway`, router));
  else if (gateway === undefined) problems.push(`${key}.gateway: "${site.gateway}"; expected ${router}`);
  else if (network && (gateway < network.first || gateway > network.last))
    problems.push(`${key}.gateway: "${site.gateway}"; expected an address in the network of ${site.address}`);
  return problems;
}

/** The driver stands thirteen addresses after the first database node. */
const LAST_OFFSET = 13;

function checkStorage(site: ProxmoxSite, key: string): Problem[] {
  const problems: Problem[] = [];
  const chosen = site.storage === undefined ? [] : [site.storage].flat();
  if (Array.isArray(site.storage) && site.storage.length !== site.nodes)
    problems.push(
      `${key}.storage: ${site.storage.length} profiles; expected one for all or one for each of ${site.nodes} nodes`,
    );
  const known = Object.keys(site.profiles);
  for (const name of chosen)
    if (!known.includes(name))
      problems.push(
        `${key}.storage: "${name}"; expected one of ${key}.profiles: ${known.join(", ") || "none are given"}`,
      );
  return problems;
}

function checkDisks(site: ProxmoxSite, key: string, config: Config): Problem[] {
  const problems: Problem[] = [];
  const rows = config.profile.data.tables * config.profile.data.tableSize;
  const onRoot = Array.from({ length: site.nodes }, (_, i) => profileOf(site, i)?.profile.sizeGb).some(
    (gb) => gb === undefined,
  );
  const needed = neededDiskGb(config, true);
  if (site.nodes > 0 && onRoot && site.diskGb < needed)
    problems.push(
      `${key}.diskGb: ${site.diskGb}; expected at least ${needed} for the ${rows} rows of meshbench:profile (twice the data, and the system)`,
    );
  for (const [name, profile] of Object.entries(site.profiles)) {
    const least = neededDiskGb(config, false);
    if (profile.sizeGb !== undefined && profile.sizeGb < least)
      problems.push(
        `${key}.profiles.${name}.sizeGb: ${profile.sizeGb}; expected at least ${least} for the ${rows} rows of meshbench:profile`,
      );
  }
  return problems;
}
