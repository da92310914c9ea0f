/** What a member of a MySQL group has in its configuration file. Pure. */
import { createHash } from "node:crypto";
import type { DatabaseOf } from "../../config/engines.ts";
import { serverId } from "../values.ts";
import { mysqlConf } from "./conf.ts";
import { GROUP_TUNINGS, GROUP_WIDE, switchWord } from "./group-options.ts";

export type GroupConfig = DatabaseOf<"mysql/group">;

export interface GroupMemberConf {
  meshAddress: string;
  maxConnections: number;
  groupName: string;
  /** Mesh addresses of all members, this one included. */
  members: string[];
}

/** A UUID that belongs to the stack: made once with it, and kept as long as its state. */
export function groupName(stackId: string): string {
  const hex = createHash("sha256").update(`group ${stackId}`).digest("hex");
  // Version 8: a UUID of one's own making (RFC 9562).
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-9${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export const seedOf = (address: string): string => `${address}:3306`;

/** What the named set and the user's own come to. */
export const groupSettings = ({ options, variables, tuning }: GroupConfig) => ({
  options: Object.fromEntries(
    Object.entries({ ...GROUP_TUNINGS[tuning].options, ...options }).map(([name, value]) => [name, switchWord(value)]),
  ),
  variables: { ...GROUP_TUNINGS[tuning].variables, ...variables },
});

/** Whether the primary alone proposes. */
export const hasSingleLeader = (database: GroupConfig): boolean =>
  groupSettings(database).options["group_replication_paxos_single_leader"] === "ON";

/** What all members must have alike from the group's first moment on. */
export function groupShape(database: GroupConfig): string {
  const { options } = groupSettings(database);
  return JSON.stringify([database.primaries, GROUP_WIDE.map((name) => options[name] ?? "")]);
}

export function groupConf(node: GroupMemberConf, database: GroupConfig): string {
  const { options, variables } = groupSettings(database);
  const single = database.primaries === "single";
  const group: Record<string, string> = {
    group_name: node.groupName,
    // Switched on, and kept on by the server itself, once it has been let in.
    start_on_boot: "OFF",
    // Members talk over the server's own port: no other has to be open, and the account says who may.
    communication_stack: "MYSQL",
    local_address: seedOf(node.meshAddress),
    group_seeds: node.members.map(seedOf).join(","),
    recovery_get_public_key: "ON",
    single_primary_mode: single ? "ON" : "OFF",
    enforce_update_everywhere_checks: single ? "OFF" : "ON",
  };
  return mysqlConf(
    node,
    [
      ["server_id", serverId(node.meshAddress)],
      ["gtid_mode", "ON"],
      ["enforce_gtid_consistency", "ON"],
      ["report_host", node.meshAddress],
      ["plugin_load_add", "group_replication.so"],
      ["plugin_load_add", "mysql_clone.so"],
      // loose: the package's own steps start the server without the plugin.
      ...Object.entries(group).map(([name, value]): [string, string] => [`loose_group_replication_${name}`, value]),
      ...Object.entries(options).map(([name, value]): [string, string] => [`loose_${name}`, value]),
    ],
    variables,
  );
}
