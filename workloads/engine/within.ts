import pTimeout from "p-timeout";

/** Waits for the work, but no longer than so many milliseconds. A rejection of the work is passed on. */
export async function within(work: Promise<unknown>, milliseconds: number): Promise<void> {
  await pTimeout(work, { milliseconds: Math.max(milliseconds, 1), message: false });
}
