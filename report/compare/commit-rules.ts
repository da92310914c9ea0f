/** What a commit waits for, by the rule that the database's description names: one entry per rule, named by type. */
import type { CommitRule } from "../../workloads/contract.ts";

interface Rule {
  /** The term of the floor. */
  what: string;
  /** One sentence for readers of a floor, with what it rests on; null: a commit waits for no other node. */
  sentence: string | null;
  /**
   * The least wait of a writer, milliseconds.
   *
   * @param others the other database nodes
   * @param rtt round trip between two nodes, milliseconds
   */
  wait: (writer: string, others: readonly string[], rtt: (a: string, b: string) => number) => number;
}

export const COMMIT_RULES: Record<CommitRule, Rule> = {
  none: { what: "on the writer alone", sentence: null, wait: () => 0 },
  /** One replica has to have the transaction (mariadb.com/kb, "Semisynchronous Replication"). */
  "nearest-member": {
    what: "round trip from the writer to the nearest replica",
    sentence:
      "a commit is answered when one replica has acknowledged it, so it takes at least one round trip from the writer to the nearest one",
    wait: (writer, others, rtt) => (others.length === 0 ? 0 : Math.min(...others.map((node) => rtt(writer, node)))),
  },
  /** Paxos with the writer as its only leader: its proposal is decided when a majority has accepted it. */
  majority: {
    what: "round trip from the writer to the farthest node of the nearest majority",
    sentence:
      "a commit is decided when a majority, the writer among it, has accepted it, so it takes at least one round trip from the writer to the last of the nearest ones that it needs",
    wait: (writer, others, rtt) =>
      others.map((node) => rtt(writer, node)).sort((a, b) => a - b)[Math.floor((others.length + 1) / 2) - 1] ?? 0,
  },
  "farthest-member": {
    what: "round trip from the writer to the farthest node",
    sentence:
      "a commit waits for every member, so it takes at least one round trip from the writer to the farthest one",
    wait: (writer, others, rtt) => Math.max(0, ...others.map((node) => rtt(writer, node))),
  },
  /**
   * Galera's group communication delivers in safe order (galera's gcomm/protolay.hpp: O_SAFE is the default): the writer
   * has to hear from each member that this one has received what every other sent up to there. The last such word
   * arrives over the longest way writer -> member -> member -> writer, half a round trip each.
   */
  "safe-delivery": {
    what: "way from the writer over two other nodes and back",
    sentence:
      "a commit is delivered once every member is known to have heard of it from every other, so it takes the longest way from the writer over two others and back, which is one and a half round trips where all are equally far",
    wait: (writer, others, rtt) =>
      Math.max(
        0,
        ...others.flatMap((a) => others.map((b) => (rtt(writer, a) + (a === b ? 0 : rtt(a, b)) + rtt(b, writer)) / 2)),
      ),
  },
};
