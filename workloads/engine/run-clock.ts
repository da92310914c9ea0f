/** Where a run stands among its windows. */
import type { RunSpec } from "../contract.ts";
import type { Slot } from "./schedule.ts";
import { schedule } from "./schedule.ts";

/** How far the run is, and with several drivers when each window begins. */
export class RunClock {
  readonly #spec: RunSpec;
  readonly #lengths: number[];
  readonly #total: number;

  constructor(spec: RunSpec, slots: readonly Slot[]) {
    this.#spec = spec;
    this.#lengths = slots.map(
      ({ step }) => (spec.steps[step]?.warmupSeconds ?? 0) + (spec.steps[step]?.durationSeconds ?? 0),
    );
    this.#total = this.#lengths.reduce((a, b) => a + b, 0);
  }

  /** @param t seconds since the window opened; negative in the warm-up */
  percent(index: number, t: number): number {
    const before = this.#lengths.slice(0, index).reduce((a, b) => a + b, 0);
    const step = this.#lengths[index] ?? 0;
    const warmup = this.#spec.steps[schedule(this.#spec)[index]?.step ?? 0]?.warmupSeconds ?? 0;
    return Math.min(100, Math.max(0, Math.round((100 * (before + Math.min(step, warmup + t))) / this.#total)));
  }

  /**
   * Drivers that start together have agreed on the first window's begin; every later one follows after the planned
   * length plus ten seconds for drain, report and new connections.
   */
  beginAt(index: number): number | undefined {
    const { drivers, restSeconds } = this.#spec;
    if (drivers?.startAt === undefined) return undefined;
    return (
      Date.parse(drivers.startAt) +
      1000 * this.#lengths.slice(0, index).reduce((sum, length) => sum + length + restSeconds + 10, 0)
    );
  }
}
