import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "../../report/compare/compare.ts";
import { saturation } from "../../report/compare/sweep.ts";
import type { Verdict } from "../../report/published/claims.ts";
import { checkClaims, judgePercent } from "../../report/published/claims.ts";
import { findPublished, publishedSets } from "../../report/published/index.ts";
import { publishedSubject } from "../../report/published/set.ts";

/**
 * Study, words of the claim, verdict: every claim is here, so that a changed figure or a new claim has to be judged.
 */
const expected: [string, RegExp, Verdict][] = [
  ["000", /AWS-only reads more.*63\.5/, "rounding"],
  ["000", /hybrid reads less.*43\.6/, "follows"],
  ["000", /hybrid writes less.*12\.1/, "follows"],
  ["000", /AWS-only writes more.*36\.9/, "follows"],
  ["000", /in the middle of the three/, "contradicted"],
  ["000", /writes fastest/, "follows"],
  ["000", /slightly slower than Proxmox-only/, "follows"],
  ["000", /more predictable/, "not from these figures"],
  ["000", /over 200 times/, "not checkable"],
  ["000", /slowest node/, "contradicted"],
  ["000", /capped by the protocol/, "contradicted"],
  ["000", /exponential/, "not from these figures"],
  ["000", /cross the VPN/, "not checkable"],
  ["000", /about 40 % of reads/, "follows"],
  ["001", /about 12 GB/, "follows"],
  ["001", /measures reads and writes/, "not from these figures"],
  ["001", /reading slows down/, "not from these figures"],
  ["001", /loading takes longer/, "follows"],
  ["002", /7 configurations/, "contradicted"],
  ["002", /half of the performance/, "not checkable"],
  ["002", /NVMe SLOG are the best/, "not checkable"],
  ["002", /same machine/, "not from these figures"],
  ["003", /semi-synchronous/, "not checkable"],
  ["003", /alike/, "follows"],
  ["003", /ahead of Group Replication/, "follows"],
  ["004", /statements per call/, "follows"],
  ["004", /run 1, Azure/, "follows"],
  ["004", /run 1, AWS/, "follows"],
  ["004", /rerun, AWS/, "follows"],
  ["004", /rerun, Azure/, "follows"],
  ["004", /next day, AWS/, "contradicted"],
  ["004", /next day, Azure/, "contradicted"],
  ["004", /10 to 13 ms/, "not from these figures"],
  ["004", /2 ms per local read/, "rounding"],
  ["004", /lease count/, "rounding"],
];

test("every claim of the published texts has the verdict that its figures give", () => {
  const claims = checkClaims();
  for (const [study, words, verdict] of expected) {
    const found = claims.filter((c) => c.study === study && words.test(c.claim));
    assert.equal(found.length, 1, `${study} ${words}: ${found.length} claims`);
    assert.equal(found[0]!.verdict, verdict, `${found[0]!.claim}: ${found[0]!.found}`);
  }
  assert.equal(claims.length, expected.length);
});

test("a percentage is judged in its own last digit", () => {
  assert.equal(judgePercent(43.6, 0.4357), "follows");
  assert.equal(judgePercent(63.5, 0.63582), "rounding");
  assert.equal(judgePercent(63.5, 0.6), "contradicted");
});

test("the figures of the texts are on record", () => {
  const subject = (id: string) => publishedSubject(findPublished(id)[0]!);
  const tps = (id: string, key: string, threads: number) =>
    subject(id).points.find((p) => p.key === key && p.threads === threads)?.tps?.mean;
  assert.equal(tps("001/1xHel-1xFra-1xLon", "oltp_read_write", 64), 548.7);
  assert.equal(tps("001/1xFra", "oltp_read_only", 8), 1964.09);
  assert.equal(subject("001/1xHel-2xFra").prepareSeconds, 51 * 60 + 19.007);
  assert.equal(subject("000/hybrid").given.find((g) => g.workload === "oltp_write_only")?.averageTps, 91.74);
  assert.equal(findPublished("003/gr")[0]!.intervals?.length, 10);
  assert.ok(Math.abs(tps("003/galera", "oltp_read_write", 128)! - 1271.663) < 1e-6);
  assert.equal(subject("004/create-aws-1").points[0]!.avg?.mean, 10_000);
  assert.equal(publishedSets.length, 15);
  assert.equal(findPublished("001").length, 4);
});

test("published sets carry no deviation, a source, and what they leave out", () => {
  for (const set of publishedSets) {
    const subject = publishedSubject(set);
    assert.ok(set.source && set.hardware && set.versions && set.howMeasured && set.notStated.length > 0, set.id);
    for (const p of subject.points)
      for (const e of [p.tps, p.avg, p.p95]) assert.ok(e === null || (e.n === 1 && e.sd === null));
  }
});

test("study 002 has configurations and no numbers, and says so; an unknown set is refused with the list", () => {
  assert.throws(() => findPublished("002"), /only in charts/);
  assert.throws(() => findPublished("009"), /there are 000\/hybrid/);
});

test("study 001: three nodes in one place stop growing at 4 threads reading, three places never do in the sweep", () => {
  const points = (id: string) =>
    publishedSubject(findPublished(id)[0]!).points.filter((p) => p.key === "oltp_read_only");
  assert.equal(saturation(points("001/3xFra")).at, 4);
  assert.equal(saturation(points("001/1xHel-1xFra-1xLon")).at, null);
});

test("study 000's published ratios come out of compare", () => {
  const [hybrid, aws] = findPublished("000").map(publishedSubject);
  const block = compare([aws!, hybrid!]).blocks.find((b) => b.key === "oltp_read_only")!;
  assert.ok(Math.abs(1 - block.sweepRatios[1]!.value - 0.4357) < 1e-4);
});

test("studies 001 and 003 are not the same work: table sizes and statements per transaction are named", () => {
  const subjects = [findPublished("001/3xFra")[0]!, findPublished("003/galera")[0]!].map(publishedSubject);
  assert.throws(
    () => compare(subjects),
    /tables: published:001\/3xFra 24; published:003\/galera 10[\s\S]*rows per table/,
  );
  assert.equal(compare(subjects, { force: true }).forced, true);
});
