/** What a part's window costs its driver: CPU, the event loop's lateness, bytes over its connections. */
import type { Connection } from "../../drivers/driver.ts";
import type { IntervalReport, PartReport } from "../figures/counters.ts";
import { ThreadMeter } from "../selfcheck.ts";
import type { Session } from "./session.ts";

export class PartMeter {
  readonly #sessions: readonly Session[];
  readonly #thread = new ThreadMeter();
  #cpuSeconds = 0;
  #worstDelay = 0;
  #windowBytes = 0;
  #bytesAtInterval = 0;
  /** Over connections that are closed. */
  #goneBytes = 0;

  constructor(sessions: readonly Session[]) {
    this.#sessions = sessions;
  }

  /** What was used until now belongs to nothing that is measured. */
  start(): void {
    this.#bytesAtInterval = this.#bytes();
    this.#thread.take();
  }

  /** Seconds of CPU that were only waited away. */
  spun(seconds: number): void {
    this.#thread.spun += seconds;
  }

  closes(connection: Connection): void {
    this.#goneBytes += connection.bytesRead + connection.bytesWritten;
  }

  /** Since the last call. @param inWindow it belongs to the window, not to the warm-up */
  interval(inWindow: boolean): Pick<IntervalReport, "cpuSeconds" | "eventLoopDelayP99Ms" | "bytes"> {
    const { cpuSeconds, eventLoopDelayP99Ms } = this.#thread.take();
    const now = this.#bytes();
    const bytes = now - this.#bytesAtInterval;
    this.#bytesAtInterval = now;
    if (inWindow) {
      this.#cpuSeconds += cpuSeconds;
      this.#worstDelay = Math.max(this.#worstDelay, eventLoopDelayP99Ms);
      this.#windowBytes += bytes;
    }
    return { cpuSeconds, eventLoopDelayP99Ms, bytes };
  }

  /** Of the window. */
  stop(): Pick<PartReport, "cpuSeconds" | "eventLoopDelayP99Ms" | "bytes"> {
    this.#thread.stop();
    return { cpuSeconds: this.#cpuSeconds, eventLoopDelayP99Ms: this.#worstDelay, bytes: this.#windowBytes };
  }

  #bytes(): number {
    let bytes = this.#goneBytes;
    for (const session of this.#sessions)
      for (const c of session.link?.connections ?? []) bytes += c.bytesRead + c.bytesWritten;
    return bytes;
  }
}
