/** What the figures say, in sentences: only what holds by the numbers beside them. */
import type { Block, Comparison } from "../compare/compare.ts";
import { averagesApart } from "../compare/counterpart.ts";
import { farthestRtt } from "../compare/floor.ts";
import { duration, number, signed } from "../format.ts";
import type { Subject } from "../model.ts";
import type { Ratio } from "../stats.ts";

const MANY = 8;

export function summary(comparison: Comparison): string[] {
  const { subjects } = comparison;
  const out: string[] = [];
  if (subjects.length > MANY) return manyRuns(comparison);
  for (const block of comparison.blocks) out.push(...blockWords(comparison, block));
  out.push(...averagesApart(comparison), ...distanceWords(comparison), ...shapeWords(comparison));
  out.push(...qualityWords(comparison));
  return out;
}

function blockWords(comparison: Comparison, block: Block): string[] {
  const { subjects } = comparison;
  const ranked = block.sweeps
    .flatMap((s, i) => (s?.averageTps ? [{ label: subjects[i]!.label, tps: s.averageTps, index: i }] : []))
    .sort((a, b) => b.tps - a.tps);
  const [best] = ranked;
  if (!best) return [];
  const base = block.sweeps[0];
  const saturation = base?.saturation.at
    ? ` ${subjects[0]!.label} stops gaining at ${base.saturation.at} thread${base.saturation.at === 1 ? "" : "s"}.`
    : "";
  if (ranked.length === 1)
    return [
      `${block.key}: ${best.label} averages ${number(best.tps)} transactions per second${base?.peakTps ? `, at most ${number(base.peakTps)}` : ""}.${saturation}`,
    ];
  const others = block.sweepRatios.flatMap((ratio, i) =>
    ratio
      ? [`${subjects[i]!.label} ${number(block.sweeps[i]!.averageTps)} (${percent(ratio)}${evidence(block, i, ratio)})`]
      : [],
  );
  const first = `${block.key}: ${subjects[0]!.label} averages ${number(base?.averageTps ?? null)} transactions per second`;
  const rest = others.length ? `; against it ${others.join(", ")}` : "";
  return [`${first}${rest}.${saturation}`];
}

/** "+12.3 %", with the 95 % interval where there are repeats. */
function percent({ value, interval }: Ratio): string {
  const of = (v: number): string => signed((v - 1) * 100, Math.abs(v - 1) < 0.1 ? 1 : 0);
  return `${signed((value - 1) * 100)} %${interval ? `, 95 % interval ${of(interval.low)} to ${of(interval.high)} %` : ""}`;
}

/** Whether the thread counts bear the average out. */
function evidence(block: Block, subject: number, average: Ratio): string {
  const verdicts = block.rows.flatMap((r) =>
    r.cells.filter((c) => c.subject === subject && c.ratios.tps).map((c) => c.ratios.tps!.verdict),
  );
  if (verdicts.length === 0) return "";
  if (verdicts.every((v) => v === "not tested")) return ", no repeats";
  if (average.verdict === "no evidence of a difference") return ": no evidence of a difference";
  const none = verdicts.filter((v) => v === "no evidence of a difference").length;
  if (none === verdicts.length) return ", no evidence of a difference at any thread count";
  return none > 0 ? `, no evidence of a difference at ${none} of ${verdicts.length} thread counts` : "";
}

const UNCHANGED = "no evidence of a change";

function distanceWords(comparison: Comparison): string[] {
  const { subjects } = comparison;
  const near = farthestRtt(subjects[0]!);
  return subjects.slice(1).flatMap((subject, k) => {
    const far = farthestRtt(subject);
    if (near === null || far === null || Math.abs(far - near) < 0.1) return [];
    const parts = comparison.blocks.flatMap((block) => {
      const cell = block.rows[0]?.cells.find((c) => c.subject === k + 1);
      return cell?.penalty
        ? [`${block.key} ${cell.penalty.evident === false ? UNCHANGED : `${signed(cell.penalty.roundTrips, 2)} ms`}`]
        : [];
    });
    if (parts.length === 0) return [];
    const trips = `Distance: between the database nodes the longest round trip is ${number(far)} ms on ${subject.label} and ${number(near)} ms on ${subjects[0]!.label}.`;
    if (parts.every((p) => p.endsWith(UNCHANGED)))
      return [`${trips} There is no evidence that it changes the mean latency at the lowest thread count.`];
    return [
      `${trips} Each additional millisecond changes the mean latency at the lowest thread count by: ${parts.join(", ")} (1.00 is one round trip per transaction).`,
    ];
  });
}

/** Ratios between topologies, ours against the published ones. */
function shapeWords(comparison: Comparison): string[] {
  const judged = (comparison.shape?.rows ?? []).filter(
    (r) => (r.agrees !== null || r.undecided) && r.what.includes(" / ") && r.what.startsWith("average"),
  );
  if (judged.length === 0) return [];
  const words = judged.map(
    (r) =>
      `${r.workload} ${r.what.replace("average tps, ", "")} ${r.published} published, ${r.ours} ours${r.undecided ? " (inconclusive)" : r.agrees ? "" : " (differs)"}`,
  );
  return [`Shape against the published study: ${words.join("; ")}. What explains the differences is listed below.`];
}

function qualityWords(comparison: Comparison): string[] {
  const out: string[] = [];
  const list = (subjects: Subject[]) => subjects.map((s) => s.label).join(", ");
  const cut = comparison.subjects.filter((s) => !s.complete);
  if (cut.length)
    out.push(
      `Not complete: ${cut.map((s) => `${s.label} (${s.incompleteReason})`).join(", ")}. What was measured is shown and marked.`,
    );
  const slow = comparison.subjects.filter((s) => s.points.some((p) => p.saturated.length > 0));
  if (slow.length)
    out.push(
      `The driver itself was saturated in ${list(slow)}: those figures are a lower bound of what the database can do.`,
    );
  const gaps = comparison.subjects.filter((s) => s.points.some((p) => (p.longestGapSeconds ?? 0) >= 1));
  if (gaps.length)
    out.push(
      `Outages: ${gaps.map((s) => `${s.label} up to ${Math.max(...s.points.map((p) => p.longestGapSeconds ?? 0)).toFixed(1)} s without a success`).join(", ")}.`,
    );
  const errors = comparison.subjects.filter((s) => s.points.some((p) => p.errors > 0));
  if (errors.length)
    out.push(
      `Errors: ${errors.map((s) => `${s.label} ${s.points.reduce((sum, p) => sum + p.errors, 0).toLocaleString("en-US")}`).join(", ")}.`,
    );
  else if (comparison.subjects.some((s) => s.kind === "run")) out.push("No errors in any run.");
  const stood = comparison.subjects.filter((s) => s.context && s.context.standIns.length > 0);
  if (stood.length) out.push(`Stand-ins or emulations served ${list(stood)}; see the environment.`);
  const prepared = comparison.subjects.filter((s) => s.prepareSeconds !== null);
  if (prepared.length > 1)
    out.push(
      `Loading the data took ${prepared.map((s) => `${duration(s.prepareSeconds!)} on ${s.label}`).join(", ")}.`,
    );
  return out;
}

function manyRuns(comparison: Comparison): string[] {
  const out = comparison.blocks.flatMap((block) => {
    const averages = block.sweeps
      .flatMap((s, i) => (s?.averageTps ? [{ tps: s.averageTps, label: comparison.subjects[i]!.label }] : []))
      .sort((a, b) => a.tps - b.tps);
    if (averages.length === 0) return [];
    const middle = averages[Math.floor(averages.length / 2)]!;
    const [low, high] = [averages[0]!, averages.at(-1)!];
    return [
      `${block.key}: ${averages.length} runs; average transactions per second from ${number(low.tps)} (${low.label}) over ${number(middle.tps)} (median) to ${number(high.tps)} (${high.label}).`,
    ];
  });
  const cut = comparison.subjects.filter((s) => !s.complete).length;
  const errors = comparison.subjects.filter((s) => s.points.some((p) => p.errors > 0)).length;
  const slow = comparison.subjects.filter((s) => s.points.some((p) => p.saturated.length > 0)).length;
  out.push(
    `${cut} of ${comparison.subjects.length} runs are not complete, ${errors} had errors, in ${slow} the driver was saturated.`,
  );
  return out;
}
