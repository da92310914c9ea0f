/** A hurt MySQL group is brought back: what group.ts has planned, done on the nodes. */
import { FOUND_AGAIN, LEAVE_BLOCKED, REJOIN } from "../databases/mysql/group-health.ts";
import { type GroupPlan, planGroup } from "./group.ts";
import { Hurt, type LookedAt, type LookOptions, type OnNodes } from "./looked-at.ts";
import type { NodeState } from "./probe.ts";

/** Rounds of "look, act, look again" after which something comes back as often as it is repaired. */
const ROUNDS = 4;

/** @throws Hurt */
export async function bringGroupBack(
  nodes: LookedAt[],
  { bootstrapFrom, say }: Pick<LookOptions, "bootstrapFrom" | "say">,
  on: OnNodes,
  first: Map<string, NodeState>,
): Promise<void> {
  const databases = nodes.filter((node) => node.roles.includes("database"));
  for (let states = first, round = 0; ; round++) {
    const members = databases.flatMap(({ name }) => {
      const state = states.get(name)?.group;
      return state === undefined ? [] : [{ name, state }];
    });
    const plan = planGroup(members, bootstrapFrom);
    if (plan.kind === "refused") throw new Hurt(plan.message);
    if (plan.kind === "well") return;
    if (round === ROUNDS) throw new Hurt(`database: the group is still not whole after ${ROUNDS} attempts`);
    await act(plan, say, on);
    states = await on.probe(databases);
  }
}

async function act(
  plan: Extract<GroupPlan, { kind: "join" | "found" }>,
  say: LookOptions["say"],
  on: OnNodes,
): Promise<void> {
  const rejoin = async (names: string[]): Promise<void> => {
    for (const name of names) await on.repair(name, "rejoining the group", REJOIN);
  };
  if (plan.kind === "join") {
    for (const name of plan.names) say(`${name}: its server stands outside of the group, bringing it back`);
    return rejoin(plan.names);
  }
  say(`the database group is down: beginning it again from ${plan.from}, which has all transactions of the others`);
  await Promise.all(plan.blocked.map((name) => on.repair(name, "leaving a group without majority", LEAVE_BLOCKED)));
  await on.repair(plan.from, "beginning the group again", FOUND_AGAIN);
  await rejoin(plan.after);
}
