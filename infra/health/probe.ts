/** What a node is asked at the beginning of each `up`, and what its answer says. Pure. */
import { CONF_PATH } from "../databases/galera-scripts.ts";
import { GROUP_PROBE } from "../databases/mysql/group-health.ts";
import { type GroupState, parseGroup } from "./group.ts";

/** Another node, and whether it carries the mesh's packets of the configured size. */
export interface PeerState {
  name: string;
  /** small: pings pass, packets of the interface's MTU do not. */
  state: "answers" | "small" | "silent";
}

export interface MeshState {
  /** absent: never configured, as on a new node. */
  state: "absent" | "up" | "down";
  /** As the node's own file has them. */
  port: number;
  mtu: number;
  /** Of the peers that the node's file names. */
  peers: PeerState[];
}

/** A view that the primary component once had, as gvwstate.dat keeps it. */
export interface View {
  me: string;
  members: string[];
}

export interface ServerState {
  /** systemd's word for mariadb.service: active, activating, deactivating, failed, inactive. */
  unit: string;
  /** Was a full member of the cluster before: it is not in the middle of its first bring-up. */
  settled: boolean;
  /** The answering server's wsrep status; undefined while it does not answer. */
  status:
    | { cluster: string; state: string; ready: boolean; size: number; uuid: string; incoming: string[] }
    | undefined;
  /** grastate.dat; empty where there is none, or the node never was a member. */
  uuid: string;
  seqno: number;
  safeToBootstrap: boolean;
  view: View | undefined;
}

export interface NodeState {
  mesh: MeshState;
  /** Units that the bring-up has enabled and that do not run. */
  stopped: string[];
  /** Galera nodes only; undefined where the server is not configured yet. */
  server: ServerState | undefined;
  /** Members of a MySQL group only; undefined where the server is not configured yet. */
  group?: GroupState | undefined;
}

/** Units that run on whichever node has been given them; mariadb itself only where it is a server alone. */
const UNITS = ["haproxy.service", "meshbench-maxscale.service", "meshbench-counters.socket", "meshbench-check.socket"];

/**
 * Prints the node's state line by line. Takes well under a second on a node that is well: one ping to each peer, all at
 * once, and one query.
 *
 * @param database undefined on other nodes; units: those of a server alone
 */
export function probeScript(
  peers: { name: string; meshAddress: string }[],
  database: { galera: boolean; group?: boolean; units: readonly string[] } | undefined,
): string {
  const units = [...UNITS, ...(database === undefined || database.galera ? [] : database.units)];
  return `conf=/etc/wireguard/wg0.conf
value() { sed -n "s/^$1 *= *//p" "$conf" | head -n 1; }
look() {
  grep -q "^AllowedIPs = $2/32" "$conf" || return 0
  state=silent
  for wait in 1 3; do
    if ping -n -q -M do -c 1 -W $wait -s $(($mtu - 28)) "$2" >/dev/null 2>&1; then state=answers; break; fi
    if ping -n -q -c 1 -W $wait "$2" >/dev/null 2>&1; then state=small; fi
  done
  echo "peer $1 $state"
}
if [ ! -s "$conf" ]; then echo "mesh absent 0 0"
elif ! systemctl is-active --quiet wg-quick@wg0 || ! ip link show up dev wg0 2>/dev/null | grep -q .; then echo "mesh down $(value ListenPort) $(value MTU)"
else
  mtu=$(ip link show dev wg0 | sed -n 's/.* mtu \\([0-9]*\\) .*/\\1/p')
  echo "mesh up $(value ListenPort) $mtu"
${peers.map((p) => `  look ${p.name} ${p.meshAddress} &`).join("\n")}
fi
for unit in ${units.join(" ")}; do
  if systemctl is-enabled --quiet "$unit" 2>/dev/null && ! systemctl is-active --quiet "$unit"; then echo "stopped $unit"; fi
done
${database?.galera ? SERVER : database?.group ? GROUP_PROBE : ""}
wait`;
}

const SERVER = `if [ -s ${CONF_PATH} ]; then
  data=/var/lib/mysql
  echo "server $(systemctl is-active mariadb || true)"
  [ ! -s $data/meshbench-settings ] || echo settled
  mariadb --connect-timeout=3 -N -B -e "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_status', 'wsrep_local_state_comment', 'wsrep_ready', 'wsrep_cluster_size', 'wsrep_cluster_state_uuid', 'wsrep_incoming_addresses')" 2>/dev/null | sed 's/^/status /' || true
  sed -n 's/^\\(uuid\\|seqno\\|safe_to_bootstrap\\): */grastate \\1 /p' $data/grastate.dat 2>/dev/null || true
  sed -n 's/^\\(my_uuid\\|member\\): *\\([^ ]*\\).*/gvwstate \\1 \\2/p' $data/gvwstate.dat 2>/dev/null || true
fi`;

const NO_UUID = /^[0-]*$/;

export function parseProbe(text: string): NodeState {
  const group = parseGroup(text);
  const state: NodeState = {
    mesh: { state: "absent", port: 0, mtu: 0, peers: [] },
    stopped: [],
    server: undefined,
    ...(group === undefined ? {} : { group }),
  };
  const status: Record<string, string> = {};
  let me = "";
  const members: string[] = [];
  for (const line of text.split("\n")) {
    const [kind = "", first = "", second = "", third = ""] = line.trim().split(/\s+/);
    const { server } = state;
    if (kind === "mesh") state.mesh = { ...state.mesh, state: first as MeshState["state"], port: +second, mtu: +third };
    else if (kind === "peer") state.mesh.peers.push({ name: first, state: second as PeerState["state"] });
    else if (kind === "stopped") state.stopped.push(first);
    else if (kind === "server")
      state.server = {
        unit: first,
        settled: false,
        status: undefined,
        uuid: "",
        seqno: -1,
        safeToBootstrap: false,
        view: undefined,
      };
    else if (server === undefined) continue;
    else if (kind === "settled") server.settled = true;
    else if (kind === "status") status[first] = second;
    else if (kind === "grastate" && first === "uuid") server.uuid = NO_UUID.test(second) ? "" : second;
    else if (kind === "grastate" && first === "seqno") server.seqno = Number(second);
    else if (kind === "grastate") server.safeToBootstrap = second === "1";
    else if (kind === "gvwstate" && first === "my_uuid") me = second;
    else if (kind === "gvwstate") members.push(second);
  }
  if (state.server === undefined) return state;
  if (me !== "" && members.length > 0) state.server.view = { me, members };
  if (status["wsrep_cluster_status"] !== undefined && status["wsrep_cluster_state_uuid"])
    state.server.status = {
      cluster: status["wsrep_cluster_status"],
      state: status["wsrep_local_state_comment"] ?? "",
      ready: status["wsrep_ready"] === "ON",
      size: Number(status["wsrep_cluster_size"]),
      uuid: status["wsrep_cluster_state_uuid"],
      incoming: (status["wsrep_incoming_addresses"] ?? "").split(",").map((address) => address.replace(/:\d+$/, "")),
    };
  return state;
}
