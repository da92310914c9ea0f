/** What a commit waits for, by the rule that the database's description names: one entry per rule, named by type. */
import type { CommitRule } from "../../workloads/contract.ts";

interface Rule {
  /** The term of the floor. */
  what: string;
  /** One sentence for readers of a floor, with what it rests on; null: a commit waits for no other node. */
  sentence: string | null;
  /** The least wait in milliseconds of a writer with these round trips to the other database nodes. */
  roundTrip: (others: readonly number[]) => number;
}

export const COMMIT_RULES: Record<CommitRule, Rule> = {
  none: { what: "on the writer alone", sentence: null, roundTrip: () => 0 },
  /** Total order: the writer has to hear from every member (galeracluster.com, "Certification-based replication"). */
  "farthest-member": {
    what: "round trip from the writer to the farthest node",
    sentence:
      "a commit is delivered in total order, so it takes at least one round trip from the writer to the farthest member",
    roundTrip: (others) => Math.max(0, ...others),
  },
  /** One replica has to have the transaction (mariadb.com/kb, "Semisynchronous Replication"). */
  "nearest-member": {
    what: "round trip from the writer to the nearest replica",
    sentence:
      "a commit is answered when one replica has acknowledged it, so it takes at least one round trip from the writer to the nearest one",
    roundTrip: (others) => (others.length === 0 ? 0 : Math.min(...others)),
  },
};
