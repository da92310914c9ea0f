/**
 * What one event loop counts. Everything belongs to the moment at which it happens: before the start, in an interval
 * of the warm-up or of the window, or in the drain. The window's totals are the sums of its intervals, whatever began
 * when.
 */
import type { DriverError } from "../../drivers/driver.ts";
import type { Session } from "../part/session.ts";
import type { Gap, IntervalReport, Tally } from "./counters.ts";
import { tally } from "./counters.ts";
import type { PackedLatencies } from "./histogram.ts";
import { Latencies } from "./histogram.ts";

/**
 * Gaps without success from this length on are kept one by one, so that those of several loops can be laid over each
 * other.
 */
export const KEPT_GAP_MS = 200;
const KEPT_GAPS = 10_000;
/** Of a server's message; statements can be part of it. */
const MESSAGE_LENGTH = 300;

export class Recorder {
  /** First message of each code. */
  readonly messages: Record<string, string> = {};
  #openAt = Infinity;
  #closeAt = Infinity;
  /** In hand. */
  #tally: Tally = tally();
  readonly #latencies = new Latencies();
  readonly #service: Latencies | null;
  #beforeStart: Tally = tally();
  #lastSuccess = 0;
  #lastCompletion = 0;
  #gaps: Gap[] = [];
  #idle: Gap[] = [];
  /** Of those that are not kept. */
  #longestShortGap = 0;
  /** Something was due when the window closed, and nothing has succeeded since. */
  #openGap = false;

  /** @param openLoop keep the service time apart from the latency */
  constructor(openLoop: boolean) {
    this.#service = openLoop ? new Latencies() : null;
  }

  /** What was counted until now belongs to nothing that is measured. */
  start(): void {
    this.#beforeStart = this.#tally;
    this.#tally = tally();
  }

  open(at: number): void {
    this.#openAt = this.#lastSuccess = at;
  }

  /** @param waitingSince see eventDone */
  close(at: number, waitingSince: number): void {
    this.#closeAt = at;
    this.#lookAtIdle(at, waitingSince);
    this.#openGap = waitingSince < at;
    if (!this.#openGap) this.#gap(at, Math.max(this.#lastSuccess, Math.min(waitingSince, at)));
  }

  /**
   * @param waitingSince from when on an event has been due without a break; in a closed loop always, which is -Infinity
   */
  eventDone(session: Session, start: number, end: number, waitingSince: number): void {
    this.flush(session);
    this.#tally.events += session.events;
    this.#latencies.record(end - start);
    if (end < this.#openAt) return;
    this.#service?.record(end - session.serviceStart);
    if (end <= this.#closeAt) {
      this.#success(end, waitingSince);
      this.#lastCompletion = end;
    } else if (this.#openGap) {
      this.#openGap = false;
      this.#gap(end, Math.max(this.#lastSuccess, waitingSince));
    }
  }

  /** An event that did not end, or never began, has waited at least this long. */
  gaveUp(waited: number): void {
    this.#latencies.record(waited);
  }

  /** Moves what the session has counted so far into the interval in hand. */
  flush(session: Session): void {
    const into = this.#tally;
    into.reads += session.reads;
    into.writes += session.writes;
    into.others += session.others;
    into.roundTrips += session.roundTrips;
    into.mismatches += session.mismatches;
    into.sampled += session.sampled;
    into.sampledWrong += session.sampledWrong;
    session.reads = session.writes = session.others = session.roundTrips = 0;
    session.mismatches = session.sampled = session.sampledWrong = 0;
  }

  error(error: DriverError): void {
    const into = this.#tally;
    into.errors++;
    into.byCode[error.code] = (into.byCode[error.code] ?? 0) + 1;
    if (error.action === "restart") into.restarts++;
    this.messages[error.code] ??= error.message.slice(0, MESSAGE_LENGTH);
  }

  reconnect(): void {
    this.#tally.reconnects++;
  }

  #success(now: number, waitingSince: number): void {
    this.#lookAtIdle(now, waitingSince);
    this.#gap(now, Math.max(this.#lastSuccess, waitingSince));
    this.#lastSuccess = now;
  }

  /** In an open loop, nothing was due since the last success. */
  #lookAtIdle(now: number, waitingSince: number): void {
    const until = Math.min(waitingSince, now);
    if (until - this.#lastSuccess >= KEPT_GAP_MS) keep(this.#idle, this.#lastSuccess, until);
  }

  /** @param waited from when on something was due; the kept gap is the whole stretch without a success */
  #gap(now: number, waited: number): void {
    if (now - this.#lastSuccess >= KEPT_GAP_MS) keep(this.#gaps, this.#lastSuccess, now);
    else if (now - waited > this.#longestShortGap) this.#longestShortGap = now - waited;
  }

  /** The interval's part of a report; the next interval starts empty. */
  takeInterval(): Pick<IntervalReport, "tally" | "latencies"> {
    const report = { tally: this.#tally, latencies: this.#latencies.pack() };
    this.#tally = tally();
    this.#latencies.reset();
    return report;
  }

  /** What belongs to no interval, and the gaps, in milliseconds since the opening. A gap that never ended has no end. */
  rest(): {
    beforeStart: Tally;
    drain: Tally;
    late: PackedLatencies;
    service: PackedLatencies | null;
    gaps: Gap[];
    idle: Gap[];
    longestShortGap: number;
    lastCompletion: number;
  } {
    const { tally: drain, latencies: late } = this.takeInterval();
    const since = ({ from, to }: Gap): Gap => ({
      from: from - this.#openAt,
      to: to === null ? null : to - this.#openAt,
    });
    const gaps = this.#gaps.map(since);
    if (this.#openGap) gaps.push({ from: this.#lastSuccess - this.#openAt, to: null });
    return {
      beforeStart: this.#beforeStart,
      drain,
      late,
      service: this.#service?.pack() ?? null,
      gaps,
      idle: this.#idle.map(since),
      longestShortGap: this.#longestShortGap,
      lastCompletion: Math.max(0, this.#lastCompletion - this.#openAt),
    };
  }
}

function keep(list: Gap[], from: number, to: number): void {
  if (list.length < KEPT_GAPS) list.push({ from, to });
}
