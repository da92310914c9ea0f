/**
 * States of a MySQL group's members -> what brings it back: never a group begun anew by a member that another one is ahead of.
 * Pure.
 */
import { countGtids, holds, parseGtids } from "./gtids.ts";

export interface GroupState {
  /** systemd's word for mysql.service. */
  unit: string;
  /** Was a full member before: it is not in the middle of its first bring-up. */
  settled: boolean;
  /** The server's own MEMBER_STATE; undefined while it does not answer. OFFLINE: in no group. */
  member: string | undefined;
  /** It reaches more than half of its group's members. */
  majority: boolean;
  /** All transactions that it has applied or received. */
  gtids: string;
}

export interface GroupMember {
  name: string;
  state: GroupState;
}

export type GroupPlan =
  | { kind: "well" }
  /** A group with its majority is there: these go back to it, one after the other. */
  | { kind: "join"; names: string[] }
  /** No group is there: this member has all that any other has. `blocked`: without majority, they leave first. */
  | { kind: "found"; from: string; after: string[]; blocked: string[] }
  | { kind: "refused"; message: string };

const names = (members: GroupMember[]): string[] => members.map((m) => m.name);
const inGroup = ({ state }: GroupMember): boolean =>
  state.majority && (state.member === "ONLINE" || state.member === "RECOVERING");

export function planGroup(members: GroupMember[], bootstrapFrom: string | undefined): GroupPlan {
  const former = members.filter((m) => m.state.settled);
  // A first bring-up that was interrupted is the steps' own work.
  if (former.length === 0) return { kind: "well" };
  const there = former.filter((m) => inGroup(m) && m.state.member === "ONLINE");
  if (there.length > 0) {
    const away = former.filter((m) => m.state.member !== "ONLINE" || !m.state.majority);
    return away.length === 0 ? { kind: "well" } : { kind: "join", names: names(away) };
  }
  const silent = former.filter((m) => m.state.member === undefined);
  if (silent.length > 0)
    return {
      kind: "refused",
      message: `database: the group is down, and the servers of ${names(silent).join(", ")} do not answer (${describe(former)}); who is ahead is not known before they do: journalctl -u mysql on them says why`,
    };
  const sets = former.map((m) => ({ name: m.name, gtids: parseGtids(m.state.gtids) }));
  const best = sets.filter(({ gtids }) => sets.every((other) => holds(gtids, other.gtids)));
  if (best.length === 0)
    return {
      kind: "refused",
      message: `database: the group is down and no member has all transactions of the others (${describe(former)}); replace those whose own are not wanted`,
    };
  if (bootstrapFrom !== undefined && !best.some(({ name }) => name === bootstrapFrom))
    return {
      kind: "refused",
      message: `MESHBENCH_BOOTSTRAP_FROM: ${bootstrapFrom}; expected ${best.map(({ name }) => name).join(" or ")}, which has all transactions of the others (${describe(former)})`,
    };
  const from = bootstrapFrom ?? best[0]!.name;
  return {
    kind: "found",
    from,
    after: names(former).filter((name) => name !== from),
    blocked: names(former.filter((m) => m.state.member !== "OFFLINE" && m.state.member !== "ERROR")),
  };
}

const describe = (members: GroupMember[]): string =>
  members
    .map(({ name, state }) =>
      state.member === undefined
        ? `${name}: no answer, ${state.unit}`
        : `${name}: ${state.member}${state.member === "ONLINE" && !state.majority ? " without majority" : ""}, ${countGtids(parseGtids(state.gtids))} transactions`,
    )
    .join(", ");

/** From the lines of GROUP_PROBE; undefined where the server is not configured yet. */
export function parseGroup(text: string): GroupState | undefined {
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
  const of = (kind: string): string[] | undefined => lines.find(([first]) => first === kind);
  const unit = of("mysql");
  if (unit === undefined) return undefined;
  const member = of("member");
  return {
    unit: unit[1] ?? "",
    settled: of("mysql-settled") !== undefined,
    member: member?.[1],
    majority: member?.[2] === "majority",
    gtids: of("gtids")?.[1] ?? "",
  };
}
