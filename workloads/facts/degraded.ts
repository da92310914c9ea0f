/** Commits of a window that did not wait as the replication design says, from the servers' own counters. Pure. */
import type { StepResult } from "../contract.ts";

/** MariaDB's and MySQL's names: commits that a replica has acknowledged, and that none has within the time-out. */
const COUNTERS = [
  ["Rpl_semi_sync_master_yes_tx", "Rpl_semi_sync_master_no_tx"],
  ["Rpl_semi_sync_source_yes_tx", "Rpl_semi_sync_source_no_tx"],
] as const;

/** Undefined where every commit waited, or nothing is known of it. */
export function degradedOf(server: StepResult["server"]): string | undefined {
  const fell = server.flatMap(({ node, delta = {} }) =>
    COUNTERS.flatMap(([acknowledged, alone]) => {
      const [yes, no] = [delta[acknowledged] ?? 0, delta[alone] ?? 0];
      return no > 0
        ? [
            `semi-synchronous replication fell back: ${no} of ${yes + no} commits on ${node} were acknowledged by no replica`,
          ]
        : [];
    }),
  );
  return fell.length > 0 ? fell.join("; ") : undefined;
}
