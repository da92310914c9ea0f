/** What brings a part of a standing node back. Pure text; idempotent, as every script is. */
import { LAST_WORDS } from "../scripts.ts";

/** The tunnel interface by the node's own file. */
export const MESH_UP = `${LAST_WORDS}
systemctl reset-failed wg-quick@wg0 2>/dev/null || true
systemctl restart wg-quick@wg0 2>/dev/null || { last_words wg-quick@wg0 5 >&2; exit 1; }`;

export function unitUp(unit: string): string {
  return `${LAST_WORDS}
systemctl reset-failed ${unit} 2>/dev/null || true
systemctl start ${unit} 2>/dev/null || { last_words ${unit} 5 >&2; exit 1; }`;
}

/**
 * Ends a server. One that waits for others does not listen to a stop, and holds nothing that a kill could lose; one that
 * answers gets its time to write what it holds.
 */
export const SERVER_DOWN = `limit=5; if mariadb-admin --connect-timeout=2 ping >/dev/null 2>&1; then limit=120; fi
timeout $limit systemctl stop mariadb 2>/dev/null || systemctl kill --signal=KILL mariadb 2>/dev/null || true
for _ in $(seq 50); do systemctl is-active --quiet mariadb || break; sleep 0.1; done
systemctl reset-failed mariadb 2>/dev/null || true`;

/** Does not wait: a server that comes back to a component that is gathering answers only when it is whole. */
export const SERVER_START = `systemctl reset-failed mariadb 2>/dev/null || true
systemctl start --no-block mariadb`;

/** Prints "<uuid>:<seqno>" of a stopped server, after the crash recovery that this takes. */
export const POSITION = `galera_recovery 2>/dev/null | sed -n 's/.*--wsrep_start_position=\\([0-9a-f-]*:-\\{0,1\\}[0-9]*\\).*/\\1/p'`;

/** The provider itself refuses when grastate.dat does not say that this is safe. \`asked\`: the operator has said so. */
export function bootstrapScript(asked: boolean): string {
  return `${LAST_WORDS}
${asked ? "sed -i 's/^safe_to_bootstrap: .*/safe_to_bootstrap: 1/' /var/lib/mysql/grastate.dat\n" : ""}galera_new_cluster 2>/dev/null || { last_words mariadb 5 >&2; exit 1; }`;
}

/**
 * More weight for a member that stays, so that it keeps the quorum when those that leave are cut off; the entering step
 * takes it back.
 */
export const LEAVING_WEIGHT = 100;
export const WEIGH_MORE = `mariadb -e "SET GLOBAL wsrep_provider_options = 'pc.weight=${LEAVING_WEIGHT}'"`;
