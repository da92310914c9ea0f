/** What an event loop is asked to do, and when. */
import type { RunSpec } from "../../contract.ts";

export interface PartTask {
  spec: RunSpec;
  /** Index into spec.steps, and which repeat. */
  step: number;
  repeat: number;
  /**
   * This loop's place among all loops of all driver nodes: it runs the sessions whose number leaves `loop` when divided
   * by `loops`.
   */
  loop: number;
  loops: number;
}

/** Moments of a window in performance.now() of this thread, milliseconds. */
export interface Times {
  begin: number;
  open: number;
  close: number;
}
