/** What one event loop counts: per interval everything, per window what began inside it. */
import type { DriverError } from "../drivers/driver.ts";
import type { Gap, IntervalReport, Tally } from "./counters.ts";
import { tally } from "./counters.ts";
import type { PackedLatencies } from "./histogram.ts";
import { Latencies } from "./histogram.ts";
import type { Session } from "./session.ts";

/**
 * Gaps without success from this length on are kept one by one, so that those of several loops can be laid over each
 * other.
 */
const KEPT_GAP_MS = 200;
const KEPT_GAPS = 10_000;

export class Recorder {
  /** When the window opens and closes (performance.now()); everything before the opening is warm-up. */
  openAt = Infinity;
  closeAt = Infinity;
  drained = 0;
  lastCompletion = 0;
  #interval: Tally = tally();
  readonly #intervalLatencies = new Latencies();
  #total: Tally = tally();
  readonly #latencies = new Latencies();
  readonly #service: Latencies | null;
  #lastSuccess = 0;
  readonly #gaps: Gap[] = [];
  #longestGap = 0;

  /** @param openLoop keep the service time apart from the latency */
  constructor(openLoop: boolean) {
    this.#service = openLoop ? new Latencies() : null;
  }

  /** From now on gaps count. */
  open(): void {
    this.#lastSuccess = Math.max(this.#lastSuccess, this.openAt);
  }

  eventDone(session: Session, start: number, end: number): void {
    this.flush(session);
    this.#interval.events += session.events;
    this.#intervalLatencies.record(end - start);
    if (end >= this.openAt && end <= this.closeAt) this.#success(end);
    if (!session.counted) return;
    this.#total.events += session.events;
    this.#latencies.record(end - start);
    this.#service?.record(end - session.serviceStart);
    if (end > this.closeAt) this.drained += session.events;
    this.lastCompletion = end;
  }

  /** Moves what the session has counted so far into the interval and, if its event counts, into the window. */
  flush(session: Session): void {
    add(this.#interval, session);
    if (session.counted) add(this.#total, session);
    session.reads = session.writes = session.others = session.mismatches = session.sampled = session.sampledWrong = 0;
  }

  error(error: DriverError, counted: boolean): void {
    for (const into of counted ? [this.#interval, this.#total] : [this.#interval]) {
      into.errors++;
      into.byCode[error.code] = (into.byCode[error.code] ?? 0) + 1;
      if (error.action === "restart") into.restarts++;
    }
  }

  reconnect(now: number): void {
    this.#interval.reconnects++;
    if (now >= this.openAt && now <= this.closeAt) this.#total.reconnects++;
  }

  #success(now: number): void {
    // The first success of the window can come before the timer that opens it has run.
    if (this.#lastSuccess < this.openAt) this.open();
    const gap = now - this.#lastSuccess;
    if (gap > this.#longestGap) this.#longestGap = gap;
    if (gap >= KEPT_GAP_MS && this.#gaps.length < KEPT_GAPS)
      this.#gaps.push({ from: this.#lastSuccess - this.openAt, to: now - this.openAt });
    this.#lastSuccess = now;
  }

  /** The interval's part of a report; the next interval starts empty. */
  takeInterval(): Pick<IntervalReport, "tally" | "latencies"> {
    const report = { tally: this.#interval, latencies: this.#intervalLatencies.pack() };
    this.#interval = tally();
    this.#intervalLatencies.reset();
    return report;
  }

  /** The window's part of the report. A gap that lasts when the window closes has no end. */
  window(): {
    tally: Tally;
    latencies: PackedLatencies;
    service: PackedLatencies | null;
    gaps: Gap[];
    longestGap: number;
    lastCompletion: number;
    drained: number;
  } {
    const open = this.closeAt - this.#lastSuccess;
    if (open >= KEPT_GAP_MS) this.#gaps.push({ from: this.#lastSuccess - this.openAt, to: null });
    return {
      tally: this.#total,
      latencies: this.#latencies.pack(),
      service: this.#service?.pack() ?? null,
      gaps: this.#gaps,
      longestGap: Math.max(this.#longestGap, open),
      lastCompletion: this.lastCompletion - this.openAt,
      drained: this.drained,
    };
  }
}

function add(into: Tally, from: Session): void {
  into.reads += from.reads;
  into.writes += from.writes;
  into.others += from.others;
  into.mismatches += from.mismatches;
  into.sampled += from.sampled;
  into.sampledWrong += from.sampledWrong;
}
