/** HAProxy in front of the database, with the engine's own check of whether a node is in service. */
import * as pulumi from "@pulumi/pulumi";
import { CONNECTION_HEADROOM, maxThreads } from "../config/counts.ts";
import { engineOf } from "../databases/index.ts";
import { onNode } from "../node.ts";
import { ensurePackages } from "../packages.ts";
import { writeFile } from "../scripts.ts";
import { CHECK_SERVICE_UNIT, checkSocketUnit, FALLBACK, haproxyConf } from "./haproxy-conf.ts";
import { type CreateProxy, displace, type ProxyArgs } from "./kind.ts";
import { type Proxy, type ProxyFacts, READER_PORT, WRITER_PORT } from "./proxy.ts";

/** @param program answers one request on stdin with 200 when the node is in service */
export function checkScript(meshAddress: string, program: string): string {
  return `changed=0
${writeFile("/usr/local/lib/meshbench/in-service", program, "0755")}
${writeFile("/etc/systemd/system/meshbench-check.socket", checkSocketUnit(meshAddress))}
${writeFile("/etc/systemd/system/meshbench-check@.service", CHECK_SERVICE_UNIT)}
if [ "$changed" = 1 ]; then systemctl daemon-reload; systemctl restart meshbench-check.socket; fi
systemctl enable --quiet --now meshbench-check.socket`;
}

/** Servers that each port has to see before the proxy counts as serving; without `readers` its servers are the writer's. */
export interface Seen {
  writer: number;
  readers?: number;
}

/** Checks the file with haproxy itself before the service sees it; prints version and what the proxy sees as JSON. */
export function haproxyScript(conf: string, seen: Seen, displaced: string[], timeoutSeconds = 60): string {
  const { servers, list } = waitFor(seen);
  return `${ensurePackages(["haproxy", "socat"])}
# A proxy of another kind that served before would hold the port.
${displace(displaced)}
changed=0
${writeFile("/etc/haproxy/meshbench.cfg", conf)}
haproxy -c -q -f /etc/haproxy/meshbench.cfg || { echo "$(hostname): haproxy refuses its configuration" >&2; exit 1; }
${writeFile("/etc/systemd/system/haproxy.service.d/10-meshbench.conf", "[Unit]\nAfter=wg-quick@wg0.service\nWants=wg-quick@wg0.service\n\n[Service]\nEnvironment=CONFIG=/etc/haproxy/meshbench.cfg\n")}
systemctl daemon-reload
systemctl enable --quiet haproxy
if [ "$changed" = 1 ] || ! systemctl is-active --quiet haproxy; then systemctl restart haproxy; fi
# A running process may still be on Debian's own file, from before the drop-in.
stat() { echo "show stat" | socat -t 2 stdio /run/haproxy/admin.sock 2>/dev/null | awk -F, '${list}'; }
deadline=$((SECONDS + ${timeoutSeconds}))
until [ "$(stat | grep -c ' UP')" = ${servers} ]; do
  [ $SECONDS -lt $deadline ] || { echo "$(hostname): haproxy sees not all of ${servers} servers in service: $(stat | tr '\\n' ';')" >&2; exit 1; }
  sleep 0.2
done
printf '{"version":"%s","servers":[%s]}\\n' "$(haproxy -v | sed -n '1s/.*version \\([^ ]*\\).*/\\1/p')" \\
  "$(stat | sed 's/\\([^ ]*\\) \\(.*\\)/{"name":"\\1","state":"\\2"}/' | paste -sd,)"`;
}

/** The lines "server state" that are waited for, and how many of them have to be UP. */
function waitFor({ writer, readers }: Seen): { servers: number; list: string } {
  if (readers === undefined)
    return { servers: writer, list: '$1 == "writer" && $2 != "FRONTEND" && $2 != "BACKEND" { print $2, $18 }' };
  // A server that is down in one role serves in the other: those that are up tell all.
  const list = `($1 == "writer" || $1 == "readers") && $2 !~ /^(FRONTEND|BACKEND|.*${FALLBACK})$/ && $18 ~ /^UP/ { print $2, $18, $1 }`;
  return { servers: writer + readers, list };
}

export const createHaProxy: CreateProxy = (args, opts) => new HaProxy(args, opts);

export class HaProxy extends pulumi.ComponentResource implements Proxy {
  readonly kind = "haproxy";
  readonly node: string;
  readonly endpoints: Proxy["endpoints"];
  readonly policy: Proxy["policy"];
  readonly facts: pulumi.Output<ProxyFacts>;
  readonly dependencies: pulumi.Resource[];

  constructor(
    { node, databaseNodes, database, config, after, displaced }: ProxyArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("meshbench:proxies:HaProxy", "proxy", {}, opts);
    const { inService, port, roles } = engineOf(config.database);
    const reads = config.driver.reads === "any" ? "any" : "replicas";
    const checks =
      typeof inService !== "string"
        ? []
        : databaseNodes.map((n) =>
            onNode(
              `${n.name}-check`,
              n,
              { script: checkScript(n.meshAddress, inService) },
              { parent: this, dependsOn: after },
            ),
          );
    const servers = databaseNodes.map((n) => ({ name: n.name, address: n.meshAddress }));
    const running = onNode(
      "haproxy",
      node,
      {
        script: haproxyScript(
          haproxyConf(node.meshAddress, servers, maxThreads(config) + CONNECTION_HEADROOM, {
            port,
            checked: inService !== null,
            ...(inService === null || typeof inService === "string" ? {} : { by: inService }),
            ...(roles === null ? {} : { roles: { reads } }),
          }),
          roles === null
            ? { writer: servers.length }
            : { writer: 1, readers: reads === "any" ? servers.length : servers.length - 1 },
          displaced,
        ),
      },
      { parent: this, dependsOn: [...checks, ...database.dependencies] },
    );

    this.node = node.name;
    const writer = { name: "haproxy-writer", host: node.meshAddress, port: WRITER_PORT };
    const readers = { name: "haproxy-readers", host: node.meshAddress, port: READER_PORT };
    const routing = config.proxy.routing;
    this.policy = routing === "split" ? "read-write-split" : "round-robin";
    this.endpoints =
      routing === "split"
        ? [
            { ...writer, role: "primary" },
            { ...readers, role: "replica" },
          ]
        : [{ ...(routing === "writer" ? writer : readers), role: "proxy" }];
    this.facts = running.stdout.apply((text) => JSON.parse(text) as ProxyFacts);
    this.dependencies = [running];
    this.registerOutputs();
  }
}
