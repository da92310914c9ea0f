/** MySQL's configuration file. Pure. */
import { optionFile } from "../galera-conf.ts";

export interface MysqlConf {
  meshAddress: string;
  maxConnections: number;
}

/**
 * @param more what the replication needs; a list where a name may stand several times
 * @param variables by the user, who wins
 */
export function mysqlConf(node: MysqlConf, more: [string, string][], variables: Record<string, string>): string {
  const settings: [string, string][] = [
    // The package's own file binds to loopback; the mesh is the only other place that may reach the server.
    ["bind_address", node.meshAddress],
    ["port", "3306"],
    ["mysqlx", "OFF"],
    // Without reverse DNS, as on a mesh, each connection would wait for a name.
    ["skip_name_resolve", "ON"],
    ["max_connections", String(node.maxConnections)],
    ["local_infile", "ON"],
    ...more,
  ];
  return optionFile(settings, variables);
}
