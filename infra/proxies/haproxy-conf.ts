/** haproxy.cfg and the check it asks on the database nodes. Pure. */
import type { HttpCheck } from "../databases/engine.ts";
import { CHECK_PORT, READER_PORT, WRITER_PORT } from "./proxy.ts";

export interface Backend {
  name: string;
  address: string;
}

export interface Service {
  /** The database's. */
  port: number;
  /** Each node answers over HTTP whether it is in service, else a port that answers will do. */
  checked: boolean;
  /** Who answers, where it is not the project's own check. */
  by?: HttpCheck;
  /**
   * One node is the primary, and which one can change: nodes answer over HTTP for either role. `reads`: what the reader
   * port is for.
   */
  roles?: { reads: "replicas" | "any" } | undefined;
}

/**
 * The writer port sends everything to the first server in service, the reader port spreads over all of them; with roles,
 * to the primary and over the replicas.
 */
export function haproxyConf(bind: string, servers: Backend[], maxConnections: number, service: Service): string {
  return `global
  log /dev/log local0 notice
  user haproxy
  group haproxy
  maxconn ${maxConnections * 2 + 50}
  stats socket /run/haproxy/admin.sock mode 660 level admin

defaults
  mode tcp
  log global
  timeout connect 5s
  timeout client 1h
  timeout server 1h
  timeout check 3s
  option clitcpka
  option srvtcpka
  option redispatch
  retries 3

${service.roles === undefined ? alike(bind, servers, service) : byRole(bind, servers, service, service.roles)}`;
}

function alike(bind: string, servers: Backend[], { port, checked }: Service): string {
  const check = checked
    ? `check port ${CHECK_PORT} inter 2s fastinter 500ms downinter 1s fall 2 rise 2`
    : "check inter 2s fastinter 500ms downinter 1s fall 2 rise 2";
  return `listen writer
  bind ${bind}:${WRITER_PORT}
${checked ? "  option httpchk GET /\n" : ""}  default-server ${check} on-marked-down shutdown-sessions
${servers.map((s, i) => `  server ${s.name} ${s.address}:${port}${i === 0 ? "" : " backup"}`).join("\n")}

listen readers
  bind ${bind}:${READER_PORT}
  balance leastconn
  default-server on-marked-down shutdown-sessions
${servers.map((s) => `  server ${s.name} ${s.address}:${port} track writer/${s.name}`).join("\n")}
`;
}

/** What the project's own program answers to. */
const OWN_CHECK: HttpCheck = { port: CHECK_PORT, primary: "/primary", replica: "/replica", any: "/" };

/** Of the reader port's last resort, which is the primary. */
export const FALLBACK = "-fallback";

/**
 * No node stands in for the primary: a replica would refuse every write. One answer is enough for a new primary, and a
 * server that is down is asked each second, so that a promotion is followed within that time.
 */
function byRole(
  bind: string,
  servers: Backend[],
  { port, by = OWN_CHECK }: Service,
  { reads }: NonNullable<Service["roles"]>,
): string {
  const check = `check port ${by.port} inter 2s fastinter 500ms downinter 1s fall 2 rise 1`;
  const list = (line: (server: Backend) => string): string => servers.map((s) => `  server ${line(s)}`).join("\n");
  const fallback =
    reads === "replicas"
      ? `${list((s) => `${s.name}${FALLBACK} ${s.address}:${port} backup track writer/${s.name}`)}\n`
      : "";
  return `listen writer
  bind ${bind}:${WRITER_PORT}
  option httpchk GET ${by.primary}
  default-server on-marked-down shutdown-sessions
${list((s) => `${s.name} ${s.address}:${port} ${check}`)}

listen readers
  bind ${bind}:${READER_PORT}
  balance leastconn
  option httpchk GET ${reads === "replicas" ? by.replica : by.any}
  default-server on-marked-down shutdown-sessions
${list((s) => `${s.name} ${s.address}:${port} ${check}`)}
${fallback}`;
}

export function checkSocketUnit(meshAddress: string): string {
  return `[Unit]
Description=Whether this node's database is in service, for health checks

[Socket]
ListenStream=${meshAddress}:${CHECK_PORT}
FreeBind=yes
Accept=yes
MaxConnections=16

[Install]
WantedBy=sockets.target
`;
}

export const CHECK_SERVICE_UNIT = `[Unit]
Description=One answer to a health check
CollectMode=inactive-or-failed

[Service]
ExecStart=-/usr/local/lib/meshbench/in-service
StandardInput=socket
StandardError=null
TimeoutStartSec=5
RuntimeMaxSec=5
LogLevelMax=warning
`;
