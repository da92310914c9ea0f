/** haproxy.cfg and the check it asks on the database nodes. Pure. */
import { CHECK_PORT, READER_PORT, WRITER_PORT } from "./proxy.ts";

export interface Backend {
  name: string;
  address: string;
}

/**
 * The writer port sends everything to the first server in service, the reader port spreads over all of them. `port` is
 * the database's; `checked`: each node answers over HTTP whether it is in service, else a port that answers will do.
 */
export function haproxyConf(
  bind: string,
  servers: Backend[],
  maxConnections: number,
  { port, checked }: { port: number; checked: boolean },
): string {
  const check = checked
    ? `check port ${CHECK_PORT} inter 2s fastinter 500ms downinter 1s fall 2 rise 2`
    : "check inter 2s fastinter 500ms downinter 1s fall 2 rise 2";
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

listen writer
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
