/** Driver 0's side of a barrier: listens, waits for all, says go. */

import type { Socket } from "node:net";
import { createServer } from "node:net";
import { epochNow } from "../clock.ts";
import type { Barrier, BarrierOptions, Go, Place } from "./barrier.ts";
import { driverName, HEARTBEAT_MS, LEAD_MS, PATIENCE_MS, SILENCE_MS } from "./barrier.ts";
import type { FromCaller } from "./wire.ts";
import { fromCaller, listen, tell } from "./wire.ts";

interface Caller {
  socket: Socket;
  heardAt: number;
  point: string | null;
  ok: boolean;
  rttMs: number;
  left: boolean;
}

/** Rejects with one line when the port cannot be had. */
export async function keepBarrier(place: Place, runId: string, options: BarrierOptions = {}): Promise<Barrier> {
  const clock = options.clock ?? epochNow;
  const patience = options.patienceMs ?? PATIENCE_MS;
  const silence = options.silenceMs ?? SILENCE_MS;
  const lost = new AbortController();
  const callers = new Map<number, Caller>();
  let closed = false;
  let waiting: { point: string; ok: boolean; resolve: (go: Go | undefined) => void; patience: NodeJS.Timeout } | null =
    null;

  const server = createServer((socket) => {
    let index: number | null = null;
    socket.on("error", () => {
      /* seen as its close */
    });
    socket.on("close", () => {
      if (index !== null && callers.get(index)?.left === false) lose(`${name(index)} is gone`);
    });
    listen(socket, fromCaller, (message) => {
      if (index !== null) return hear(index, message);
      const refusal = message.kind === "join" ? refuse(message) : "not a driver";
      if (refusal !== null || message.kind !== "join") {
        tell(socket, { kind: "refused", reason: refusal ?? "not a driver" });
        return void socket.end();
      }
      index = message.index;
      callers.set(index, { socket, heardAt: performance.now(), point: null, ok: true, rttMs: 0, left: false });
      tell(socket, { kind: "welcome", runId });
    });
  });
  const name = (index: number): string => driverName(index, place.count);

  function refuse(join: Extract<FromCaller, { kind: "join" }>): string | null {
    if (join.key !== place.key) return "another run is under way here";
    if (join.count !== place.count || join.index < 1 || join.index >= place.count)
      return `${driverName(join.index, join.count)} has no place among ${place.count} drivers`;
    if (callers.has(join.index)) return `${name(join.index)} is here already`;
    return lost.signal.aborted || closed ? "the run is over" : null;
  }

  function hear(index: number, message: FromCaller): void {
    const caller = callers.get(index) as Caller;
    caller.heardAt = performance.now();
    if (message.kind === "ping") tell(caller.socket, { kind: "pong", n: message.n, at: clock() });
    else if (message.kind === "arrived") {
      Object.assign(caller, { point: message.point, ok: message.ok, rttMs: message.rttMs });
      release();
    } else if (message.kind === "stop") lose(`${name(index)} stopped: ${message.reason}`);
    else if (message.kind === "leave") {
      caller.left = true;
      release();
    }
  }

  function release(): void {
    if (waiting === null || callers.size < place.count - 1) return;
    const { point, ok } = waiting;
    const all = [...callers.values()];
    for (const [index, caller] of callers) if (caller.left) return lose(`${name(index)} has left`);
    if (all.some((caller) => caller.point !== point)) return;
    const at = clock() + LEAD_MS + Math.max(...all.map((caller) => caller.rttMs));
    const allOk = ok && all.every((caller) => caller.ok);
    for (const caller of all) {
      caller.point = null;
      tell(caller.socket, { kind: "go", point, at, allOk });
    }
    settle({ at, offsetMs: 0, uncertaintyMs: 0, allOk });
  }

  function settle(go: Go | undefined): void {
    const waiter = waiting;
    waiting = null;
    if (waiter === null) return;
    clearTimeout(waiter.patience);
    waiter.resolve(go);
  }

  function lose(reason: string): void {
    if (closed || lost.signal.aborted) return;
    lost.abort(reason);
    for (const { socket } of callers.values()) tell(socket, { kind: "stop", reason });
    settle(undefined);
  }

  const watch = setInterval(
    () => {
      for (const [index, caller] of callers)
        if (!caller.left && performance.now() - caller.heardAt > silence)
          lose(`${name(index)} has been silent for ${Math.round(silence / 1000)} s`);
    },
    Math.min(HEARTBEAT_MS, silence / 4),
  );

  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      clearInterval(watch);
      reject(
        new Error(`drivers.meet: ${place.host}:${place.port} cannot be listened on (${error.code ?? error.message})`),
      );
    });
    server.listen(place.port, place.host, resolve);
  });

  return {
    runId,
    lost: lost.signal,
    arrive: (point, ok = true) =>
      new Promise((resolve) => {
        if (lost.signal.aborted || closed) return resolve(undefined);
        // A driver that has joined is watched; how long its connections may take is its own affair.
        const patienceTimer = setTimeout(() => {
          const missing = Array.from({ length: place.count - 1 }, (_, i) => i + 1).filter((i) => !callers.has(i));
          if (missing.length > 0)
            lose(`${missing.map(name).join(", ")} did not come within ${Math.round(patience / 1000)} s`);
        }, patience);
        waiting = { point, ok, resolve, patience: patienceTimer };
        release();
      }),
    close(reason) {
      if (closed) return;
      if (reason !== undefined) for (const { socket } of callers.values()) tell(socket, { kind: "stop", reason });
      else for (const { socket } of callers.values()) tell(socket, { kind: "leave" });
      closed = true;
      clearInterval(watch);
      settle(undefined);
      for (const { socket } of callers.values()) socket.end();
      server.close();
    },
  };
}
