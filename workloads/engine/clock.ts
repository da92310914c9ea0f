/** Time that does not jump when a machine's clock is set: what windows begin by, and what drivers compare. */

/** Milliseconds since the epoch as this process has counted them since its start. */
export const epochNow = (): number => performance.timeOrigin + performance.now();

/** Of the system's monotonic clock: the same for all threads of a process. Milliseconds. */
export const monotonicNow = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Clock of another machine minus this one's, and how far that may be off. Milliseconds. */
export interface Offset {
  offsetMs: number;
  uncertaintyMs: number;
}

/**
 * From one question and answer: asked at `sent`, answered at `there` by the other clock, heard at `heard`. The answer
 * was made between the two, so the middle is off by half the round trip at most, however the way there and back differ
 * (NTP, RFC 5905, section 8).
 */
export function offsetOf(sent: number, there: number, heard: number): Offset {
  return { offsetMs: there - (sent + heard) / 2, uncertaintyMs: (heard - sent) / 2 };
}

/** The quickest round trip says most. */
export const best = (offsets: readonly Offset[]): Offset =>
  offsets.reduce((a, b) => (b.uncertaintyMs < a.uncertaintyMs ? b : a));
