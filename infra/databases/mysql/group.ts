import { databaseNodes } from "../../config/counts.ts";
import type { DatabaseOf } from "../../config/engines.ts";
import type { Engine } from "../engine.ts";
import { INNODB_ROW_BYTES } from "../mariadb.ts";
import { checkVariables } from "../server-variables.ts";
import { checkVersion, MYSQL_HOST, MYSQL_LOCAL_RELEASE, MYSQL_OWNED } from "./facts.ts";
import { GROUP_CHECK, GROUP_REJOINED } from "./group-check.ts";
import { groupSettings, hasSingleLeader } from "./group-conf.ts";
import { checkGroupOptions } from "./group-options.ts";

/** MySQL's own limit. */
const MOST_MEMBERS = 9;

/** The server takes the option all the same, and goes on with every member as a leader. */
const singleLeaderProblem = ({ options, tuning }: DatabaseOf<"mysql/group">): string =>
  options["group_replication_paxos_single_leader"] === undefined
    ? `meshbench:database.tuning: "${tuning}" with primaries "multi"; expected with primaries "single" only`
    : 'meshbench:database.options.group_replication_paxos_single_leader: ON with primaries "multi"; expected with primaries "single" only';

/** MySQL Group Replication on every database node. */
export const mysqlGroup: Engine<DatabaseOf<"mysql/group">> = {
  title: "MySQL Group Replication",
  protocol: "mysql",
  port: 3306,
  roleOf: (index) => (index === 0 ? "primary" : "replica"),
  roles: "group",
  by: (database) => ({
    ...(database.primaries === "multi" ? { roleOf: () => "any" as const, roles: null } : {}),
    ...(hasSingleLeader(database) ? { commit: "majority" as const } : {}),
  }),
  commit: "farthest-member",
  quorum: true,
  bytesPerRow: INNODB_ROW_BYTES,
  host: MYSQL_HOST,
  localRelease: MYSQL_LOCAL_RELEASE,
  inService: GROUP_CHECK,
  rejoined: GROUP_REJOINED,
  repair: "group",
  settings(database) {
    const { options, variables } = groupSettings(database);
    return { primaries: database.primaries, ...options, ...variables };
  },
  check: (database, config) => ({
    problems: [
      ...checkVersion(database.version, config),
      ...(database.primaries === "multi" && hasSingleLeader(database) ? [singleLeaderProblem(database)] : []),
      ...(databaseNodes(config) > MOST_MEMBERS
        ? [
            `meshbench:database.replication: "group" with ${databaseNodes(config)} database nodes in meshbench:sites; expected at most ${MOST_MEMBERS}, which is MySQL's own limit`,
          ]
        : []),
      ...checkGroupOptions(database.options),
      ...checkVariables(database.variables, MYSQL_OWNED, config),
    ],
    warnings: [],
  }),
  load: async () => (await import("./group-cluster.ts")).createMysqlGroup,
};
