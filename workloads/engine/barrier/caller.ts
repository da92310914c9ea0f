/** The other drivers' side of a barrier: calls driver 0, compares clocks, waits for its go. */

import type { Socket } from "node:net";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Offset } from "../clock.ts";
import { best, epochNow, offsetOf } from "../clock.ts";
import type { Barrier, BarrierOptions, Go, Place } from "./barrier.ts";
import { driverName, HEARTBEAT_MS, PATIENCE_MS, SILENCE_MS } from "./barrier.ts";
import { fromKeeper, listen, tell } from "./wire.ts";

const RETRY_MS = 500;
/** Questions before each window: one of them meets no busy moment. */
const CLOCK_QUESTIONS = 10;

/**
 * Goes on calling for the whole patience: driver 0 may begin later. Rejects with one line when it does not answer, or
 * refuses.
 */
export async function callBarrier(place: Place, options: BarrierOptions = {}): Promise<Barrier> {
  const deadline = performance.now() + (options.patienceMs ?? PATIENCE_MS);
  for (;;) {
    try {
      return await join(await dial(place), place, options);
    } catch (error) {
      if (error instanceof Refused)
        throw new Error(
          `drivers.meet: ${place.host}:${place.port} refuses ${driverName(place.index, place.count)}: ${error.message}`,
        );
      if (performance.now() > deadline)
        throw new Error(
          `drivers.meet: driver 1 does not answer at ${place.host}:${place.port} (${(error as Error).message})`,
        );
    }
    if (options.signal?.aborted) throw new Error(`stopped (${String(options.signal.reason)}) before driver 1 answered`);
    await sleep(RETRY_MS);
  }
}

class Refused extends Error {}

function dial({ host, port }: Place): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.setTimeout(5000, () => socket.destroy(new Error("no answer")));
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.removeListener("error", reject);
      resolve(socket);
    });
  });
}

function join(socket: Socket, place: Place, options: BarrierOptions): Promise<Barrier> {
  const clock = options.clock ?? epochNow;
  const silence = options.silenceMs ?? SILENCE_MS;
  const lost = new AbortController();
  const answers = new Map<number, (there: number) => void>();
  let welcome: { resolve: (barrier: Barrier) => void; reject: (error: Error) => void } | null = null;
  let waiting: { point: string; resolve: (go: { at: number; allOk: boolean } | undefined) => void } | null = null;
  let pings = 0,
    heardAt = performance.now(),
    closed = false;

  const settle = (go: { at: number; allOk: boolean } | undefined): void => {
    waiting?.resolve(go);
    waiting = null;
  };
  const lose = (reason: string): void => {
    welcome?.reject(new Error(reason));
    if (!closed && !lost.signal.aborted) lost.abort(reason);
    end();
  };
  const end = (): void => {
    clearInterval(heart);
    for (const answer of answers.values()) answer(NaN);
    settle(undefined);
  };
  const heart = setInterval(
    () => {
      if (performance.now() - heardAt > silence) {
        lose(`${driverName(0, place.count)} has been silent for ${Math.round(silence / 1000)} s`);
        socket.destroy();
      } else tell(socket, { kind: "ping", n: ++pings });
    },
    Math.min(HEARTBEAT_MS, silence / 4),
  );

  /** Undefined when the barrier is lost meanwhile. */
  const ask = (): Promise<Offset | undefined> =>
    new Promise((resolve) => {
      if (lost.signal.aborted || closed) return resolve(undefined);
      const n = ++pings,
        sent = clock();
      answers.set(n, (there) => {
        answers.delete(n);
        resolve(Number.isNaN(there) ? undefined : offsetOf(sent, there, clock()));
      });
      tell(socket, { kind: "ping", n });
    });

  const compareClocks = async (): Promise<Offset | undefined> => {
    const offsets: Offset[] = [];
    for (let i = 0; i < CLOCK_QUESTIONS; i++) {
      const offset = await ask();
      if (offset === undefined) return undefined;
      offsets.push(offset);
    }
    return best(offsets);
  };

  socket.on("error", () => {
    /* seen as its close */
  });
  socket.on("close", () => lose(`${driverName(0, place.count)} is gone`));
  listen(socket, fromKeeper, (message) => {
    heardAt = performance.now();
    if (message.kind === "pong") answers.get(message.n)?.(message.at);
    else if (message.kind === "go") {
      if (waiting?.point === message.point) settle(message);
    } else if (message.kind === "stop") lose(message.reason);
    else if (message.kind === "leave") closed = true;
    else if (message.kind === "refused") {
      welcome?.reject(new Refused(message.reason));
      closed = true;
    } else {
      welcome?.resolve({
        runId: message.runId,
        lost: lost.signal,
        async arrive(point, ok = true): Promise<Go | undefined> {
          const offset = await compareClocks();
          if (offset === undefined || lost.signal.aborted || closed) return undefined;
          const go = await new Promise<{ at: number; allOk: boolean } | undefined>((resolve) => {
            waiting = { point, resolve };
            tell(socket, { kind: "arrived", point, ok, rttMs: 2 * offset.uncertaintyMs });
          });
          return go && { at: go.at - offset.offsetMs, ...offset, allOk: go.allOk };
        },
        close(reason) {
          if (closed) return;
          tell(socket, reason === undefined ? { kind: "leave" } : { kind: "stop", reason });
          closed = true;
          end();
          socket.end();
        },
      });
      welcome = null;
    }
  });
  return new Promise((resolve, reject) => {
    welcome = { resolve, reject };
    tell(socket, { kind: "join", key: place.key, index: place.index, count: place.count });
  });
}
