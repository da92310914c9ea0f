/** Takes one line for the user. */
export type Say = (line: string) => void;

export const sayOnStderr: Say = (line) => process.stderr.write(`${line}\n`);

/** 65 s is `1 min 05 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** Repeats what is going on and since when, every few seconds, until `work` is done. */
export async function withProgress<T>(what: string, say: Say, work: Promise<T>, everyMs = 5000): Promise<T> {
  const start = Date.now();
  const timer = setInterval(() => say(`${what}: ${duration(Date.now() - start)}`), everyMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
