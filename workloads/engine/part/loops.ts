/** Event loops that run sessions: this thread's own, or worker threads of the same program. One interface for both. */
import { parentPort, Worker, workerData } from "node:worker_threads";
import { driverFor } from "../../drivers/index.ts";
import { planStep } from "../../steps.ts";
import { epochNow, monotonicNow } from "../clock.ts";
import type { IntervalReport, PartReport } from "../figures/counters.ts";
import type { RoleSource, Roles } from "../roles/roles.ts";
import { RoleView } from "../roles/view.ts";
import { Part } from "./part.ts";
import type { PartTask, Times } from "./task.ts";

export interface Loop {
  /** Resolves when its sessions are connected, or after the patience with those that are. */
  connect(patienceMs: number): Promise<{ connected: number; error: string | null }>;
  /** @param times moments of epochNow() (clock.ts) */
  run(times: Times): Promise<PartReport>;
  stop(): void;
  /** Ends the thread behind it. */
  release(): Promise<void>;
}

type IntervalHandler = (report: IntervalReport) => void;

/** Marks the data of our own worker threads, so that the program knows that it is one. */
const ROLE = "meshbench-load-loop";

interface WorkerStart {
  role: typeof ROLE;
  task: PartTask;
  password: string;
}

/** Times are of monotonicNow(). */
type ToWorker =
  | { kind: "connect"; patienceMs: number }
  | { kind: "run"; times: Times }
  | { kind: "roles"; roles: Roles }
  | { kind: "stop" };
type FromWorker =
  | { kind: "connected"; connected: number; error: string | null }
  | { kind: "interval"; report: IntervalReport }
  | { kind: "doubt"; node: string }
  | { kind: "done"; report: PartReport };

const shifted = (times: Times, by: number): Times => ({
  begin: times.begin + by,
  open: times.open + by,
  close: times.close + by,
});

/**
 * Each thread has an origin of its own, taken from a clock that may be set in between; the monotonic clock is common to
 * all.
 */
const toMonotonic = (times: Times): Times => shifted(times, monotonicNow() - epochNow());
const toLocal = (times: Times): Times => shifted(times, performance.now() - monotonicNow());

async function makePart(
  task: PartTask,
  password: string,
  onInterval: IntervalHandler,
  roles: RoleView | null,
): Promise<Part> {
  const { plan, options } = planStep(task.spec, task.step, task.repeat);
  return new Part(task, plan, await driverFor(task.spec.target.driver), password, options.events, onInterval, roles);
}

/** Null: roles are as the endpoints have them. @param doubt see RoleSource */
const viewFor = ({ spec }: PartTask, doubt: (node: string) => void): RoleView | null =>
  spec.target.roles === undefined
    ? null
    : new RoleView(
        spec.target.roles.nodes.map(({ name }) => name),
        doubt,
      );

export async function localLoop(
  task: PartTask,
  password: string,
  onInterval: IntervalHandler,
  roles?: RoleSource,
): Promise<Loop> {
  const view = viewFor(task, (node) => roles?.doubt(node));
  const part = await makePart(task, password, onInterval, view);
  if (roles) view?.update(roles.current);
  const unsubscribe = roles?.subscribe((now) => view?.update(now));
  return {
    connect: (patienceMs) => part.connect(patienceMs),
    run: (times) => part.run(toLocal(toMonotonic(times))),
    stop: () => part.stop(),
    release: async () => unsubscribe?.(),
  };
}

/** @param entry the program itself: it has to call `serveLoop()` first when it runs as a worker thread */
export function workerLoop(
  entry: URL,
  task: PartTask,
  password: string,
  onInterval: IntervalHandler,
  roles?: RoleSource,
): Loop {
  const start: WorkerStart = { role: ROLE, task, password };
  // The password goes through the thread's own memory, not through an environment or arguments that others can see.
  const worker = new Worker(entry, { workerData: start, stdout: false, stderr: false });
  let onConnected: ((state: { connected: number; error: string | null }) => void) | null = null;
  let onDone: ((report: PartReport) => void) | null = null;
  let fail: ((error: Error) => void) | null = null;
  let ended: Error | null = null;
  worker.on("message", (message: FromWorker) => {
    if (message.kind === "interval") onInterval(message.report);
    else if (message.kind === "connected") onConnected?.(message);
    else if (message.kind === "doubt") roles?.doubt(message.node);
    else onDone?.(message.report);
  });
  const gone = (reason: Error): void => {
    ended ??= reason;
    fail?.(ended);
  };
  worker.on("error", (error: Error) => gone(new Error(`a load thread died: ${error.message}`)));
  worker.on("exit", (code) => gone(new Error(`a load thread ended early (code ${code})`)));
  const send = (message: ToWorker): void => worker.postMessage(message);
  if (roles) send({ kind: "roles", roles: roles.current });
  const unsubscribe = roles?.subscribe((now) => send({ kind: "roles", roles: now }));
  const answer = <T>(register: (resolve: (value: T) => void) => void, message: ToWorker): Promise<T> =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended);
      fail = reject;
      register(resolve);
      send(message);
    });
  return {
    connect: (patienceMs) => answer((resolve) => (onConnected = resolve), { kind: "connect", patienceMs }),
    run: (times) => answer((resolve) => (onDone = resolve), { kind: "run", times: toMonotonic(times) }),
    stop: () => send({ kind: "stop" }),
    release: async () => {
      fail = null;
      unsubscribe?.();
      await worker.terminate();
    },
  };
}

/** When this thread is one of ours, serves it and returns true; the program must then do nothing else. */
export function serveLoop(): boolean {
  const start = workerData as WorkerStart | null;
  if (parentPort === null || start?.role !== ROLE) return false;
  const port = parentPort;
  const tell = (message: FromWorker): void => port.postMessage(message);
  const view = viewFor(start.task, (node) => tell({ kind: "doubt", node }));
  const ready = makePart(start.task, start.password, (report) => tell({ kind: "interval", report }), view);
  port.on("message", (message: ToWorker) => {
    void ready.then(async (part) => {
      if (message.kind === "stop") part.stop();
      else if (message.kind === "roles") view?.update(message.roles);
      else if (message.kind === "connect") tell({ kind: "connected", ...(await part.connect(message.patienceMs)) });
      else tell({ kind: "done", report: await part.run(toLocal(message.times)) });
    });
  });
  return true;
}
