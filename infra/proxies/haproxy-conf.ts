/** haproxy.cfg and the check it asks on the database nodes. Pure. */
import { CHECK_PORT, READER_PORT, WRITER_PORT } from "./proxy.ts";

export interface Backend {
  name: string;
  address: string;
}

/** The writer port sends everything to the first server in service, the reader port spreads over all of them. */
export function haproxyConf(bind: string, servers: Backend[], maxConnections: number, galera: boolean): string {
  const check = galera
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
${galera ? "  option httpchk GET /\n" : ""}  default-server ${check} on-marked-down shutdown-sessions
${servers.map((s, i) => `  server ${s.name} ${s.address}:3306${i === 0 ? "" : " backup"}`).join("\n")}

listen readers
  bind ${bind}:${READER_PORT}
  balance leastconn
  default-server on-marked-down shutdown-sessions
${servers.map((s) => `  server ${s.name} ${s.address}:3306 track writer/${s.name}`).join("\n")}
`;
}

/** Says 200 only when the node is Synced and takes queries: a port that answers is no sign of that. */
export const CHECK_PROGRAM = `#!/bin/bash
# One request on stdin, one answer on stdout; started by systemd for each connection.
# The request is read to its end: what is left unread when the connection closes would reset it, and the answer with it.
while IFS= read -r -t 2 line && [ -n "\${line%$'\\r'}" ]; do :; done
state=$(mariadb --connect-timeout=2 -N -B -e "SELECT CONCAT_WS(' ', (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'WSREP_LOCAL_STATE_COMMENT'), (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'WSREP_READY'), (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'WSREP_CLUSTER_STATUS'))" 2>/dev/null)
if [ "$state" = "Synced ON Primary" ]; then code="200 OK"; else code="503 Service Unavailable"; fi
body="\${state:-no answer}"
printf 'HTTP/1.0 %s\\r\\nContent-Type: text/plain\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n%s' "$code" "\${#body}" "$body"
`;

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
