/**
 * Locks between processes that a killed holder can't leave behind: a listening socket in
 * Linux's abstract namespace, which the kernel closes with its process and which is no file.
 */
import { createServer } from "node:net";
import { LabError, progress, sleep } from "./run.ts";

const POLL_MS = 20;

function tryListen(name: string): Promise<(() => void) | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(undefined) : reject(error),
    );
    server.listen(`\0meshbench-lab/${name}`, () => {
      server.unref();
      resolve(() => server.close());
    });
  });
}

/**
 * Runs `work` while no other process holds the lock `name` (at most 90 characters).
 * @throws LabError when the lock is not free within `timeoutMs`.
 */
export async function withLock<T>(name: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const started = Date.now();
  let told = false;
  for (;;) {
    const release = await tryListen(name);
    if (release) {
      try {
        return await work();
      } finally {
        release();
      }
    }
    const waited = Date.now() - started;
    if (waited > timeoutMs)
      throw new LabError(`another command has been working on ${name} for over ${Math.round(timeoutMs / 1000)} s`);
    if (waited > 2_000 && !told) {
      told = true;
      progress(`waiting for another command that works on ${name}`);
    }
    await sleep(POLL_MS);
  }
}
