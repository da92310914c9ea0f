/** Legs side by side against an account's quotas, before the first of them begins. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type LegAccount, sideBySide } from "../../cli/study/quotas.ts";
import { legsOn } from "./legs.ts";

const account = (quotas: Record<string, number>, more: Partial<LegAccount> = {}): LegAccount => ({
  identity: async () => "123456789012",
  virtualCpus: async (types) => new Map(types.map((type) => [type, 2])),
  running: async () => 0,
  addresses: async () => 0,
  networks: async () => 1,
  quota: async (_service, code) => quotas[code] ?? 100,
  ...more,
});

test("two legs in one region count together, with the leg's names and what to do", async () => {
  const { legs } = legsOn(["aws", "both"]);
  const room = await sideBySide(legs, 2, "meshbench", () => account({}));
  assert.deepEqual(room, { problems: [], skipped: [] });
  // A database node and the driver each: each leg alone would fit.
  const { problems } = await sideBySide(legs, 2, "meshbench", () => account({ "L-0263D0A3": 3, "L-F678F1CE": 2 }));
  assert.equal(problems.length, 2, problems.join("\n"));
  assert.match(problems[0]!, /leg aws and leg both need 4 Elastic IPs, but 3 of .* or a lower --parallel/);
  assert.match(problems[1]!, /need 2 VPCs, but 1 of the account's 2/);
});

test("legs that never meet, and one at a time, are not added up", async () => {
  const tight = () => account({ "L-0263D0A3": 3 });
  assert.deepEqual((await sideBySide(legsOn(["aws", "both"]).legs, 1, "meshbench", tight)).problems, []);
  assert.deepEqual((await sideBySide(legsOn(["aws"], { repeats: 3 }).legs, 3, "meshbench", tight)).problems, []);
  assert.deepEqual((await sideBySide(legsOn(["aws", "home"]).legs, 2, "meshbench", tight)).problems, []);
});

test("what cannot be asked is said and stops nobody", async () => {
  const deaf = () =>
    account(
      {},
      {
        identity: async () => {
          throw new Error("no network\nmore");
        },
      },
    );
  const { problems, skipped } = await sideBySide(legsOn(["aws", "both"]).legs, 2, "meshbench", deaf);
  assert.deepEqual([problems, skipped], [[], ["quotas of legs side by side in us-east-1: no network"]]);
});
