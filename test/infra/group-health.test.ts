/** What brings a MySQL group back, from its members' states. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type GroupMember, type GroupState, parseGroup, planGroup } from "../../infra/health/group.ts";
import { countGtids, holds, parseGtids } from "../../infra/health/gtids.ts";

const A = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
const B = "4e11fa47-71ca-11e1-9e33-c80aa9429562";
const member = (name: string, state: Partial<GroupState> = {}): GroupMember => ({
  name,
  state: { unit: "active", settled: true, member: "ONLINE", majority: true, gtids: `${A}:1-10`, ...state },
});
const down = (name: string, gtids: string): GroupMember => member(name, { member: "OFFLINE", majority: false, gtids });

test("sets of transactions: intervals in any order, tags, parts of one source", () => {
  const gtids = parseGtids(`${A}:7-9:1-3:4,\n${B}:tag:1-2,${A}:5-6`);
  assert.deepEqual(
    [...gtids],
    [
      [A, [[1, 9]]],
      [`${B}:tag`, [[1, 2]]],
    ],
  );
  assert.equal(countGtids(gtids), 11);
  assert.ok(holds(gtids, parseGtids(`${A}:2-8`)));
  assert.ok(holds(gtids, parseGtids("")));
  assert.ok(!holds(gtids, parseGtids(`${A}:9-10`)));
  assert.ok(!holds(gtids, parseGtids(`${B}:1`)), "another tag is another source");
  assert.ok(!holds(parseGtids(`${A}:1-3:5`), parseGtids(`${A}:3-5`)), "a gap");
});

test("all in the group: nothing is done; in the middle of the first bring-up neither", () => {
  assert.equal(planGroup([member("a"), member("b"), member("c")], undefined).kind, "well");
  assert.equal(
    planGroup([{ ...down("a", ""), state: { ...down("a", "").state, settled: false } }], undefined).kind,
    "well",
  );
});

test("members outside of a group that has its majority go back to it", () => {
  const plan = planGroup([member("a"), down("b", `${A}:1-4`), member("c", { member: "RECOVERING" })], undefined);
  assert.deepEqual(plan, { kind: "join", names: ["b", "c"] });
  const silent = planGroup(
    [member("a"), member("b"), member("c", { member: undefined, unit: "activating" })],
    undefined,
  );
  assert.deepEqual(silent, { kind: "join", names: ["c"] });
});

test("a group that is down begins from the member that has all; members without majority leave first", () => {
  const plan = planGroup([down("a", `${A}:1-10`), down("b", `${A}:1-12`), down("c", `${A}:1-11`)], undefined);
  assert.deepEqual(plan, { kind: "found", from: "b", after: ["a", "c"], blocked: [] });
  const blocked = planGroup(
    [member("a", { majority: false, gtids: `${A}:1-12` }), down("b", `${A}:1-12`), down("c", `${A}:1-9`)],
    undefined,
  );
  assert.deepEqual(blocked, { kind: "found", from: "a", after: ["b", "c"], blocked: ["a"] });
});

test("refused with states: nobody has all, a server that does not answer, a named node that is behind", () => {
  const split = planGroup([down("a", `${A}:1-10`), down("b", `${A}:1-9,${B}:1`)], undefined);
  assert.deepEqual(split, {
    kind: "refused",
    message:
      "database: the group is down and no member has all transactions of the others (a: OFFLINE, 10 transactions, b: OFFLINE, 10 transactions); replace those whose own are not wanted",
  });
  const silent = planGroup([down("a", `${A}:1-10`), member("b", { member: undefined, unit: "failed" })], undefined);
  assert.match((silent as { message: string }).message, /servers of b do not answer .*b: no answer, failed/);
  const asked = planGroup([down("a", `${A}:1-10`), down("b", `${A}:1-9`)], "b");
  assert.match((asked as { message: string }).message, /^MESHBENCH_BOOTSTRAP_FROM: b; expected a, which has all/);
  assert.equal(planGroup([down("a", `${A}:1-10`), down("b", `${A}:1-10`)], "b").kind, "found");
});

test("the probe's lines", () => {
  assert.equal(parseGroup("mesh up 51820 1420\n"), undefined);
  assert.deepEqual(parseGroup(`mysql active\nmysql-settled\nmember\tONLINE\tmajority\ngtids\t${A}:1-3,${B}:1\n`), {
    unit: "active",
    settled: true,
    member: "ONLINE",
    majority: true,
    gtids: `${A}:1-3,${B}:1`,
  });
  assert.equal(parseGroup("mysql failed\nmysql-settled\n")?.member, undefined);
});
