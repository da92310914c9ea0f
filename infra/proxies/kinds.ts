/** The proxies: a kind in the schema without a description here does not compile. */

import { type DatabaseConfig, engineKey } from "../config/engines.ts";
import { checkMaxscaleOptions } from "../config/maxscale-options.ts";
import type { Config, ProxyKindName } from "../config/schema.ts";
import { engineOf } from "../databases/index.ts";
import type { Installed } from "../installed.ts";
import type { ProxyKind, ProxyKinds } from "./kind.ts";

const nothing = { problems: [], warnings: [] };
const NO_HOST: Installed = { units: [], packages: [], files: [], directories: [] };

const haproxy: ProxyKind = {
  title: "HAProxy",
  units: ["haproxy.service"],
  host: {
    units: ["haproxy"],
    packages: ["haproxy", "socat"],
    files: ["/etc/haproxy/meshbench.cfg", "/etc/systemd/system/haproxy.service.d/10-meshbench.conf"],
    directories: ["/etc/systemd/system/haproxy.service.d"],
  },
  ownKeys: [],
  engines: "all",
  asksInService: true,
  check: ({ routing }, { roles, title }) => ({
    problems:
      roles !== null && routing === "balanced"
        ? [
            `meshbench:proxy.routing: "balanced"; expected "split" or "writer" before ${title}, whose replicas take no writes`,
          ]
        : [],
    warnings: [],
  }),
  load: async () => (await import("./haproxy.ts")).createHaProxy,
};

const maxscale: ProxyKind = {
  title: "MaxScale",
  units: ["meshbench-maxscale.service", "meshbench-counters.socket"],
  host: { ...NO_HOST, units: ["maxscale"], packages: ["maxscale"] },
  ownKeys: ["monitor", "service", "archive"],
  engines: ["mariadb/galera"],
  asksInService: false,
  check: checkMaxscaleOptions,
  load: async () => (await import("./maxscale.ts")).createMaxScale,
};

const none: ProxyKind = {
  title: "no proxy",
  units: [],
  host: NO_HOST,
  ownKeys: [],
  engines: "all",
  asksInService: false,
  check: () => nothing,
  load: null,
};

export const PROXIES: ProxyKinds = {
  haproxy,
  maxscale,
  none,
};

/** Units of all kinds but this one. */
export const displacedBy = (kind: ProxyKindName): string[] =>
  Object.entries(PROXIES).flatMap(([name, { units }]) => (name === kind ? [] : units));

const serves = ({ engines }: ProxyKind, database: DatabaseConfig): boolean =>
  engines === "all" || engines.includes(engineKey(database));

export function checkProxy(config: Config): { problems: string[]; warnings: string[] } {
  const { database, proxy, driver } = config;
  const engine = engineOf(database);
  const kind = PROXIES[proxy.kind];
  const { problems, warnings } = kind.check(proxy, engine);
  const said = [...problems];
  if (!serves(kind, database)) {
    const able = Object.entries(PROXIES).filter(([, other]) => serves(other, database));
    said.unshift(
      `meshbench:proxy.kind: "${proxy.kind}"; expected ${able.map(([name]) => `"${name}"`).join(" or ")} before ${engine.title}`,
    );
  }
  for (const key of new Set(Object.values(PROXIES).flatMap(({ ownKeys }) => ownKeys))) {
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
