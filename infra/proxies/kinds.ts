/** The proxies: a kind in the schema without a description here does not compile. */
import { checkMaxscaleOptions } from "../config/maxscale-options.ts";
import type { Config, ProxyKindName } from "../config/schema.ts";
import type { OwnKey, ProxyKind, ProxyKinds } from "./kind.ts";

const nothing = { problems: [], warnings: [] };

const none: ProxyKind = { title: "no proxy", units: [], ownKeys: [], check: () => nothing, load: null };

const haproxy: ProxyKind = {
  title: "HAProxy",
  units: ["haproxy.service"],
  ownKeys: [],
  check: () => nothing,
  load: async () => (await import("./haproxy.ts")).createHaProxy,
};

const maxscale: ProxyKind = {
  title: "MaxScale",
  units: ["meshbench-maxscale.service", "meshbench-counters.socket"],
  ownKeys: ["monitor", "service", "archive"],
  check: checkMaxscaleOptions,
  load: async () => (await import("./maxscale.ts")).createMaxScale,
};

export const PROXIES: ProxyKinds = { none, haproxy, maxscale };

/** Units of all kinds but this one. */
export const displacedBy = (kind: ProxyKindName): string[] =>
  Object.entries(PROXIES).flatMap(([name, { units }]) => (name === kind ? [] : units));

const OWN_KEYS: readonly OwnKey[] = ["monitor", "service", "archive"];

export function checkProxy(config: Config): { problems: string[]; warnings: string[] } {
  const { proxy, driver } = config;
  const kind = PROXIES[proxy.kind];
  const { problems, warnings } = kind.check(proxy);
  const said = [...problems];
  for (const key of OWN_KEYS) {
    if (kind.ownKeys.includes(key) || Object.keys(proxy[key] ?? {}).length === 0) continue;
    const owners = Object.entries(PROXIES).filter(([, other]) => other.ownKeys.includes(key));
    said.push(
      `meshbench:proxy.${key}: given for kind "${proxy.kind}"; expected with ${owners.map(([name]) => `"${name}"`).join(", ")}`,
    );
  }
  if (proxy.placement === "driver" && driver.placement === "proxy" && kind.load !== null)
    said.push(
      'meshbench:proxy.placement: "driver", while meshbench:driver.placement is "proxy"; expected "own" or "database" for one of them',
    );
  if (driver.placement === "proxy" && kind.load === null)
    said.push('meshbench:driver.placement: "proxy", while meshbench:proxy.kind is "none"; expected "own"');
  const site = config.sites.find((s) => s.name === proxy.site);
  if (proxy.placement === "database" && site && site.nodes === 0)
    said.push(
      `meshbench:proxy.placement: "database", while site "${site.name}" has no database node; expected "own", or a site that has one`,
    );
  return { problems: said, warnings };
}
