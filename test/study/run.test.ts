/** Legs side by side, with the stacks left out: each leg ends when the test says so. */

import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { estimateLeg } from "../../cli/study/estimate.ts";
import type { Leg, Study } from "../../cli/study/file.ts";
import { Journal, legId } from "../../cli/study/journal.ts";
import { type Outcome, reportStudy, runLegs } from "../../cli/study/run.ts";
import { syntheticResult } from "../../harness/synthetic.ts";
import { legsOn } from "./legs.ts";

const settled = () => new Promise(setImmediate);
const HOUR = 3_600_000;

/** A study in a folder of its own; `events` is what began and ended, in order. */
function stage(t: TestContext, topologies: string[], more: Partial<Study> = {}) {
  const dir = mkdtempSync(join(tmpdir(), "meshbench-run-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const { study, legs } = legsOn(topologies, more);
  const events: string[] = [],
    lines: string[] = [];
  const ends = new Map<string, { done: () => void; failed: (why: string) => void }>();
  const run = (leg: Leg): Promise<string> =>
    new Promise((resolve, reject) => {
      const id = legId(leg),
        file = join(dir, `${leg.stack}-${leg.repeat}.json`);
      events.push(`+${id}`);
      ends.set(id, {
        done: () => {
          events.push(`-${id}`);
          writeFileSync(file, "{}");
          resolve(file);
        },
        failed: (why) => {
          events.push(`!${id}`);
          reject(new Error(why));
        },
      });
    });
  const go = (
    parallel: number,
    fresh = false,
  ): { stop: AbortController; ended: Promise<Outcome>; journal: Journal } => {
    const { journal } = Journal.open(join(dir, "studies"), study, undefined, fresh),
      stop = new AbortController();
    return {
      stop,
      journal,
      ended: runLegs(
        study,
        legs,
        { journal, results: dir, keepOnFailure: false, parallel, say: (line) => lines.push(line), signal: stop.signal },
        run,
      ),
    };
  };
  return {
    study,
    legs,
    events,
    lines,
    go,
    end: async (id: string) => {
      ends.get(id)!.done();
      await settled();
    },
    fail: async (id: string, why: string) => {
      ends.get(id)!.failed(why);
      await settled();
    },
  };
}

test("two legs run at once, a third waits for room, and one on the same host for the host", async (t) => {
  const s = stage(t, ["home", "both", "aws"]);
  const { ended } = s.go(2);
  await settled();
  assert.deepEqual(s.events, ["+home#1", "+aws#1"], "both wants the host that home has");
  await s.end("aws#1");
  assert.deepEqual(s.events.slice(2), ["-aws#1"]);
  await s.end("home#1");
  await s.end("both#1");
  assert.deepEqual(await ended, { done: 3, failed: [] });
  assert.deepEqual(s.events.slice(2), ["-aws#1", "-home#1", "+both#1", "-both#1"]);
});

test("a leg with local nodes runs alone", async (t) => {
  const s = stage(t, ["aws", "here", "barn"]);
  const { ended } = s.go(3);
  await settled();
  assert.deepEqual(s.events, ["+aws#1", "+barn#1"]);
  await s.end("aws#1");
  assert.equal(s.events.includes("+here#1"), false);
  await s.end("barn#1");
  assert.equal(s.events.at(-1), "+here#1");
  await s.end("here#1");
  assert.equal((await ended).done, 3);
  assert.match(s.lines.join("\n"), /a leg with local nodes runs alone/);
});

test("a leg that fails neither stops nor holds up the other, and is run anew by the next call", async (t) => {
  const s = stage(t, ["aws", "home", "barn"]);
  const first = s.go(2);
  await settled();
  await s.fail("aws#1", "no capacity");
  assert.deepEqual(s.events, ["+aws#1", "+home#1", "!aws#1", "+barn#1"]);
  await s.end("barn#1");
  await s.end("home#1");
  assert.deepEqual(await first.ended, { done: 2, failed: ["aws#1: no capacity"] });
  const second = s.go(2);
  assert.equal(second.journal.dir, first.journal.dir);
  await settled();
  assert.deepEqual(s.events.slice(-1), ["+aws#1"]);
  await s.end("aws#1");
  assert.deepEqual(await second.ended, { done: 3, failed: [] });
});

test("Ctrl-C: nothing new begins, what is under way ends as it can; the next call does only what is not done", async (t) => {
  const s = stage(t, ["aws", "home", "barn"]);
  const first = s.go(2);
  await settled();
  first.stop.abort();
  await s.end("aws#1");
  assert.equal(s.events.includes("+barn#1"), false);
  await s.fail("home#1", "interrupted");
  assert.deepEqual(await first.ended, { done: 1, failed: [], stopped: "interrupted" });
  const second = s.go(2);
  await settled();
  assert.deepEqual(s.events.slice(4), ["+home#1", "+barn#1"]);
  await s.end("home#1");
  await s.end("barn#1");
  assert.equal((await second.ended).done, 3);
});

test("money that legs under way will cost is spoken for, so that two at once cannot both take the last of it", async (t) => {
  const s = stage(t, ["aws", "home", "barn"]);
  const cost = (i: number): number => estimateLeg(s.legs[i]!).money!;
  assert.ok([0, 1, 2].every((i) => cost(i) > 0));
  s.study.limits.money = cost(0) + cost(1) + cost(2) / 2;
  const { ended, journal } = s.go(3);
  await settled();
  assert.deepEqual(s.events, ["+aws#1", "+home#1"], "the third would lead beyond the limit");
  await s.end("aws#1");
  await s.end("home#1");
  const { done, stopped } = await ended;
  assert.equal(done, 2);
  assert.match(stopped!, /the spending limit of/);
  assert.ok(journal.spent().money < s.study.limits.money);
});

test("a leg that has cost more than it was estimated at counts with what it has cost", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-01-01T00:00:00Z") });
  const s = stage(t, ["home", "aws"]);
  s.study.limits.money = 5;
  const { ended, journal } = s.go(1);
  await settled();
  const perHour = estimateLeg(s.legs[0]!).perHour!;
  t.mock.timers.tick((6 / perHour) * HOUR);
  await s.end("home#1");
  assert.match((await ended).stopped!, /the spending limit of 5 USD: 6\.00 are spent/);
  assert.ok(Math.abs(journal.spent().money - 6) < 0.01);
});

test("the time limit counts hours on the clock, not those of legs at the same time twice", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-01-01T00:00:00Z") });
  const s = stage(t, ["aws", "home", "barn"], { repeats: 2 });
  const each = estimateLeg(s.legs[0]!).seconds;
  s.study.limits.hours = (each * 2.5) / 3600;
  const { ended, journal } = s.go(3);
  await settled();
  assert.equal(s.events.length, 3);
  t.mock.timers.tick(each * 1000);
  for (const id of ["aws#1", "home#1", "barn#1"]) await s.end(id);
  assert.equal(s.events.filter((e) => e.startsWith("+")).length, 6, "three hours' worth of legs took one");
  t.mock.timers.tick(each * 1000);
  for (const id of ["aws#2", "home#2", "barn#2"]) await s.end(id);
  assert.equal((await ended).done, 6);
  assert.equal(Math.round(journal.spent().seconds), Math.round(2 * each));
});

test("what a killed study left standing costs until it is taken up and ends; idle days are no hours of the study", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-01-01T00:00:00Z") });
  const s = stage(t, ["aws"]);
  const killed = s.go(1);
  await settled();
  t.mock.timers.tick(48 * HOUR);
  const { ended, journal } = s.go(1);
  assert.equal(journal.dir, killed.journal.dir);
  await settled();
  t.mock.timers.tick(HOUR);
  await s.end("aws#1");
  assert.equal((await ended).done, 1);
  assert.ok(
    Math.abs(journal.spent().money - 49 * estimateLeg(s.legs[0]!).perHour!) < 0.01,
    String(journal.spent().money),
  );
  assert.equal(journal.spent().seconds, 3600);
});

test("the journal: a torn last line is no entry, raised limits go on with the same one, another study or scale does not", (t) => {
  const s = stage(t, ["aws"]);
  const { journal } = s.go(1);
  appendFileSync(join(journal.dir, "journal.jsonl"), '{"at":"2026-01');
  assert.deepEqual(
    journal.entries().map((e) => e.event),
    ["begun", "leg-begun"],
  );
  const studies = join(journal.dir, "..");
  assert.equal(Journal.open(studies, { ...s.study, limits: { hours: 5 } }, undefined, false).journal.dir, journal.dir);
  journal.add({ event: "leg-failed", leg: "aws#1" });
  assert.deepEqual(
    journal.entries().map((e) => e.event),
    ["begun", "leg-begun", "leg-failed"],
    "what is written after it is",
  );
  assert.equal(Journal.last(studies, { ...s.study, repeats: 9 }, undefined), undefined);
  assert.equal(Journal.last(studies, s.study, "quick"), undefined);
  assert.equal(Journal.last(join(studies, "nowhere"), s.study, undefined), undefined);
});

test("a report does not begin a study: of one that is over it is that one's", (t) => {
  const s = stage(t, ["aws"]);
  const { journal } = s.go(1);
  journal.add({ event: "ended" });
  assert.equal(Journal.last(join(journal.dir, ".."), s.study, undefined)?.dir, journal.dir);
});

test("the report keeps the order of the file, in whatever order the legs ran", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "meshbench-run-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const { study, legs } = legsOn(["barn", "aws", "home"]);
  const { journal } = Journal.open(join(dir, "studies"), study, undefined, true);
  await runLegs(
    study,
    legs,
    { journal, results: dir, keepOnFailure: false, parallel: 1, say: () => {}, signal: new AbortController().signal },
    async (leg) => {
      const file = join(dir, `${leg.stack}.json`);
      writeFileSync(
        file,
        JSON.stringify(
          syntheticResult({
            runId: leg.stack,
            seed: 1,
            threads: [1],
            workloads: ["oltp_read_only"],
            repeats: 1,
            histograms: false,
          }),
        ),
      );
      return file;
    },
  );
  const { text, subjects } = await reportStudy(study, legs, journal);
  assert.equal(subjects, 3);
  assert.ok(text.indexOf("aws") < text.indexOf("home") && text.indexOf("home") < text.indexOf("barn"), text);
});
