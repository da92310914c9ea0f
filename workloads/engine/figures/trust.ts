/** Why a window's figures can't be used, or only with a remark: in words. */
import type { StepResult } from "../../contract.ts";

type Counts = Pick<StepResult, "transactions" | "queries" | "errors" | "checks" | "drain" | "openLoop">;

/**
 * Share of statements with another number of rows than the data must give from which on the work was not the one that
 * the workload stands for. This project's judgement: a few rows that somebody else deleted do not move a figure.
 */
const MANY_WRONG = 0.01;
const count = (n: number): string => n.toLocaleString("en-US");

/** "1,234 of them 1290: The MySQL server is running with --read-only"; "" without an error. */
export function commonestError({ byCode, messages }: StepResult["errors"]): string {
  const [first] = Object.entries(byCode).toSorted((a, b) => b[1] - a[1]);
  if (first === undefined) return "";
  const [code, n] = first;
  const message = messages?.[code] ?? "";
  return `${count(n)} of them ${message === "" ? code : message.includes(code) ? message : `${code}: ${message}`}`;
}

/** Reasons for which a window is incomplete although its time is over. */
export function distrust(window: Counts): string[] {
  const { transactions, queries, errors, checks, openLoop } = window;
  const reasons: string[] = [];
  if (transactions === 0) {
    if (errors.total > 0) reasons.push(`no event succeeded: ${count(errors.total)} errors, ${commonestError(errors)}`);
    else if (openLoop?.offered === 0) reasons.push("no event was due in the window: it is too short for the rate");
    else reasons.push("no event ended in the window, and none failed: it is too short, or the server did not answer");
  }
  const { mismatches = 0, sampled = 0, sampledWrong = 0 } = checks ?? {};
  if (mismatches > 0 && mismatches >= MANY_WRONG * queries.total)
    reasons.push(
      `${count(mismatches)} of ${count(queries.total)} statements returned or changed another number of rows than the data must give: the tables are not those of the spec`,
    );
  if (sampledWrong > 0 && sampledWrong >= MANY_WRONG * sampled)
    reasons.push(`${count(sampledWrong)} of ${count(sampled)} answers that were looked at held wrong rows`);
  return reasons;
}

/** What has to be known beside the figures of a window that may well be complete. */
export function remarks({ checks, drain, openLoop }: Counts): string[] {
  const lines: string[] = [];
  const { mismatches = 0, sampledWrong = 0 } = checks ?? {};
  if (mismatches > 0) lines.push(`${count(mismatches)} wrong row counts`);
  if (sampledWrong > 0) lines.push(`${count(sampledWrong)} wrong answers`);
  if (drain !== undefined && drain.abandoned > 0) lines.push(`${count(drain.abandoned)} events given up at the close`);
  if (openLoop !== undefined) {
    const { dropped, backlogAtEnd = 0, achievedPerSecond, requestedPerSecond } = openLoop;
    if (dropped > 0) lines.push(`${count(dropped)} arrivals dropped`);
    if (backlogAtEnd > 0) lines.push(`${count(backlogAtEnd)} never begun`);
    if (dropped > 0 || backlogAtEnd > 0)
      lines.push(`late: ${achievedPerSecond.toFixed(1)} of ${requestedPerSecond.toFixed(1)}/s done`);
  }
  return lines;
}
