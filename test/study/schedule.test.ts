import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { estimateLeg, total } from "../../cli/study/estimate.ts";
import { makespan, mayRunTogether, runTogether } from "../../cli/study/schedule.ts";
import { legsOn } from "./legs.ts";

test("legs get on when they share no host: AWS is everybody's, a Proxmox host carries one, this machine nothing else", () => {
  const names = ["aws", "home", "barn", "both", "here"];
  const { legs } = legsOn(names, { repeats: 2 });
  const leg = (name: string, repeat = 0) => legs.find((l) => l.cell.name === name && l.repeat === repeat)!;
  const pairs = names.flatMap((a, i) =>
    names
      .slice(i + 1)
      .filter((b) => mayRunTogether(leg(a), leg(b)))
      .map((b) => `${a} ${b}`),
  );
  assert.deepEqual(pairs, ["aws home", "aws barn", "aws both", "home barn", "barn both"]);
  for (const name of names)
    assert.equal(mayRunTogether(leg(name), leg(name, 1)), false, `${name}: repeats of a leg are one stack`);
});

test("whatever may run together: every item once, never too many, never two that exclude each other, never idle while one could run", async () => {
  const given = fc.record({
    kinds: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 }),
    most: fc.integer({ min: 1, max: 4 }),
    picks: fc.infiniteStream(fc.nat()),
  });
  await fc.assert(
    fc.asyncProperty(given, async ({ kinds, most, picks }) => {
      const items = kinds.map((kind, id) => ({ id, kind })),
        together = (a: { kind: number }, b: { kind: number }) => a.kind !== b.kind;
      const running = new Map<{ id: number; kind: number }, () => void>(),
        begun: number[] = [];
      const all = runTogether(
        items,
        most,
        together,
        (item) =>
          new Promise((end) => {
            assert.ok([...running.keys()].every((r) => together(r, item)));
            begun.push(item.id);
            running.set(item, end);
            assert.ok(running.size <= most);
          }),
      );
      for (let ended = 0; ended < items.length; ended++) {
        await new Promise(setImmediate);
        const waiting = items.filter((i) => !begun.includes(i.id));
        assert.ok(
          running.size === most || !waiting.some((w) => [...running.keys()].every((r) => together(w, r))),
          "one more could run",
        );
        const under = [...running];
        const [item, end] = under[picks.next().value! % under.length]!;
        running.delete(item);
        end();
      }
      await all;
      assert.deepEqual(
        begun.toSorted((a, b) => a - b),
        items.map((i) => i.id),
      );
      for (const kind of new Set(kinds))
        assert.deepEqual(
          begun.filter((id) => kinds[id] === kind),
          begun.filter((id) => kinds[id] === kind).toSorted((a, b) => a - b),
          "alike ones in their order",
        );
    }),
  );
});

test("a rejection begins nothing more, waits for what is under way, and is told", async () => {
  const begun: string[] = [];
  let endSlow = (): void => {},
    over = false;
  const all = runTogether(
    ["slow", "bad", "never"],
    2,
    () => true,
    (item) => {
      begun.push(item);
      return item === "bad"
        ? Promise.reject(new Error("disk full"))
        : new Promise((end) => {
            endSlow = end;
          });
    },
  ).finally(() => {
    over = true;
  });
  all.catch(() => {});
  await new Promise(setImmediate);
  assert.equal(over, false, "slow is still under way");
  endSlow();
  await assert.rejects(all, /disk full/);
  assert.deepEqual(begun, ["slow", "bad"]);
});

test("makespan: side by side as long as the longest, one after the other the sum", () => {
  assert.equal(
    makespan(
      [3, 5, 4],
      1,
      () => true,
      (x) => x,
    ),
    12,
  );
  assert.equal(
    makespan(
      [3, 5, 4],
      3,
      () => true,
      (x) => x,
    ),
    5,
  );
  assert.equal(
    makespan(
      [3, 5, 4],
      2,
      () => true,
      (x) => x,
    ),
    7,
  );
  assert.equal(
    makespan(
      [3, 5, 4],
      3,
      () => false,
      (x) => x,
    ),
    12,
  );
  assert.equal(
    makespan(
      [],
      2,
      () => true,
      (x: number) => x,
    ),
    0,
  );
  const { legs } = legsOn(["aws", "home"]);
  const [a, b] = legs.map((l) => estimateLeg(l).seconds);
  assert.equal(total(legs, 1).seconds, a! + b!);
  assert.equal(total(legs, 2).seconds, Math.max(a!, b!));
  assert.equal(total(legs, 1).money, total(legs, 2).money, "money is not saved by haste");
});
