/** MaxScale as a service on its node: configuration, start, readiness, counters. Bash, pure text. */

import { heredoc, writeFile } from "../scripts.ts";
import { displace } from "./kind.ts";
import { MONITOR, MONITOR_PASSWORD, REST_PORT, SERVICE, SERVICE_PASSWORD } from "./maxscale-conf.ts";
import { LAUNCHER, LIB_DIR } from "./maxscale-install.ts";
import { COUNTERS_PORT, WRITER_PORT } from "./proxy.ts";

export const CONF_PATH = "/etc/meshbench-maxscale.cnf";
export const UNIT_NAME = "meshbench-maxscale.service";

export const UNIT = `[Unit]
Description=MaxScale in front of the database of this mesh
After=network.target wg-quick@wg0.service
Wants=wg-quick@wg0.service

[Service]
Type=exec
User=maxscale
Group=maxscale
RuntimeDirectory=maxscale
ExecStart=${LAUNCHER} --nodaemon --log=stdout --config=${CONF_PATH}
Restart=on-failure
LimitNOFILE=65535
TimeoutStopSec=10

[Install]
WantedBy=multi-user.target
`;

const REST = `http://127.0.0.1:${REST_PORT}/v1`;

/**
 * One request on stdin, one HTTP answer: what readwritesplit has routed since it was started, as a flat JSON object.
 * Counters only ever grow, so that two readings around a run tell what the run did. 24.02.4 counts every transaction as
 * ro_transactions and leaves rw_transactions at 0 (queryclassifier.cc marks a transaction as read-only again at its
 * COMMIT, before readwritesplit counts it): where the statements went, route_master and route_slave tell. By server, as
 * NODE.read and NODE.write, and NODE.total with what went to all; a session command is a read of each server that got
 * it.
 */
export const COUNTERS_PROGRAM = `#!/bin/bash
if [ "\${1:-}" != --plain ]; then
  # To the empty line after the headers: closing on unread bytes would reset the connection under the answer.
  while read -r -t 2 line && [ -n "\${line%$'\r'}" ]; do :; done
fi
code="200 OK"
body=$(curl -fsS --max-time 3 ${REST}/services/${SERVICE} 2>/dev/null | sed -nE '
  s/^ *("(queries|route_master|route_slave|route_all|rw_transactions|ro_transactions|replayed_transactions)": [0-9]+),?$/\\1/p
  /"server_query_statistics": \\[$/,/^ *\\]/ {
    /^ *"id": /{ s/^ *"id": "(.*)",?$/\\1/; h }
    /^ *"(total|read|write)": [0-9]+,?$/{ G; s/^ *"(.*)": ([0-9]+),?\\n(.*)$/"\\3.\\1": \\2/p }
  }' | paste -sd,)
if [ -n "$body" ]; then body="{$body}"; else code="503 Service Unavailable"; fi
if [ "\${1:-}" = --plain ]; then [ -n "$body" ] && printf '%s\\n' "$body"; exit; fi
printf 'HTTP/1.0 %s\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n%s' "$code" "\${#body}" "$body"
`;

const COUNTERS_SERVICE = `[Unit]
Description=One reading of the proxy's routing counters
CollectMode=inactive-or-failed

[Service]
ExecStart=-${LIB_DIR}/proxy-counters
StandardInput=socket
StandardError=null
RuntimeMaxSec=10
LogLevelMax=warning
`;

const countersSocket = (bind: string): string => `[Unit]
Description=The proxy's routing counters, for the load engine

[Socket]
ListenStream=${bind}:${COUNTERS_PORT}
FreeBind=yes
Accept=yes
MaxConnections=8

[Install]
WantedBy=sockets.target
`;

export interface MaxscaleStart {
  /** Units of proxies of other kinds. */
  displaced: string[];
  bind: string;
  conf: string;
  /** How many database nodes it has to see in service. */
  servers: number;
  timeoutSeconds?: number;
}

/**
 * stdin: the monitor's password, then the service's, a line each. MaxScale itself judges the file before the service
 * sees it. Done when the port answers and the monitor has one Master and all others in sync. Prints four of REST's
 * documents.
 */
export function serviceScript({ bind, conf, servers, displaced, timeoutSeconds = 60 }: MaxscaleStart): string {
  return `read -r monitor_password
read -r service_password
fail() { echo "$(hostname): $*" >&2; exit 1; }
changed=0
# A proxy of another kind that served before would hold the port.
${displace(displaced)}
conf=$(cat ${heredoc(conf)}
)
conf=\${conf//${MONITOR_PASSWORD}/"$monitor_password"}
conf=\${conf//${SERVICE_PASSWORD}/"$service_password"}
umask_was=$(umask); umask 077; printf '%s\\n' "$conf" > ${CONF_PATH}.new; umask "$umask_was"
chown root:maxscale ${CONF_PATH}.new; chmod 0640 ${CONF_PATH}.new
install -d -m 0755 -o maxscale -g maxscale /run/maxscale
${LAUNCHER} --config-check --log=stdout --user=maxscale --config=${CONF_PATH}.new >/tmp/meshbench-maxscale-check.log 2>&1 || {
  grep -iE 'error|alert' /tmp/meshbench-maxscale-check.log | head -n 5 >&2
  fail "MaxScale refuses its configuration"
}
rm -f /tmp/meshbench-maxscale-check.log
if cmp -s ${CONF_PATH}.new ${CONF_PATH}; then rm -f ${CONF_PATH}.new; else mv -f ${CONF_PATH}.new ${CONF_PATH}; changed=1; fi
${writeFile(`/etc/systemd/system/${UNIT_NAME}`, UNIT)}
serving=$changed; changed=0
${writeFile(`${LIB_DIR}/proxy-counters`, COUNTERS_PROGRAM, "0755")}
${writeFile("/etc/systemd/system/meshbench-counters.socket", countersSocket(bind))}
${writeFile("/etc/systemd/system/meshbench-counters@.service", COUNTERS_SERVICE)}
systemctl daemon-reload
systemctl enable --quiet ${UNIT_NAME} meshbench-counters.socket
[ "$changed" = 0 ] || systemctl stop --quiet meshbench-counters.socket 2>/dev/null || true
systemctl start meshbench-counters.socket
# What is running may be another build than the one that the launcher now starts.
build=$(sha256sum < ${LAUNCHER} | cut -c1-64)
[ "$(cat /var/lib/maxscale/meshbench-build 2>/dev/null)" = "$build" ] || serving=1
if [ "$serving" = 1 ] || ! systemctl is-active --quiet ${UNIT_NAME}; then systemctl restart ${UNIT_NAME}; echo "$build" > /var/lib/maxscale/meshbench-build; fi
states() { curl -fsS --max-time 3 ${REST}/servers 2>/dev/null | sed -nE 's/^ *"state": "(.*)",?$/\\1/p' || true; }
count() { grep -cE "$1" <<<"$seen" || true; }
port() { timeout 2 bash -c "</dev/tcp/${bind}/${WRITER_PORT}" 2>/dev/null; }
deadline=$((SECONDS + ${timeoutSeconds}))
until seen=$(states); [ "$(count '^Master, Synced, Running$')" = 1 ] && [ "$(count '^Slave, Synced, Running$')" = ${servers - 1} ] && port; do
  if systemctl is-failed --quiet ${UNIT_NAME} || [ $SECONDS -ge $deadline ]; then
    journalctl -u ${UNIT_NAME} -n 10 --no-pager -o cat >&2 || true
    fail "MaxScale does not serve all of ${servers} servers on ${bind}:${WRITER_PORT}, it sees: $(tr '\\n' ';' <<<"$seen")"
  fi
  sleep 0.2
done
document() { curl -fsS --max-time 5 "${REST}/$1" | tr -d '\\n'; }
printf '{"maxscale":%s,"servers":%s,"monitor":%s,"service":%s}\\n' \\
  "$(document maxscale)" "$(document servers)" "$(document monitors/${MONITOR})" "$(document services/${SERVICE})"`;
}
