/** Runs the load engine inside the test's process. */

import type { RunResult, RunSpec, RunSpecInput, StepResult } from "../../workloads/contract.ts";
import { runSpecSchema } from "../../workloads/contract.ts";
import type { Connection, Value } from "../../workloads/drivers/driver.ts";
import { type Observer, run } from "../../workloads/engine/run.ts";
import { DATABASE, PASSWORD, USER } from "./mariadb.ts";

/** The program that worker threads start from. */
export const CLI = new URL("../../workloads/cli.ts", import.meta.url);

type StepInput = RunSpecInput["steps"][number];

/** A spec for servers on loopback ports; `target` and the rest may override. */
export function specFor(
  ports: number[],
  steps: StepInput[],
  more: { target?: Partial<RunSpecInput["target"]>; data?: RunSpecInput["data"]; spec?: Partial<RunSpecInput> } = {},
): RunSpec {
  return runSpecSchema.parse({
    runId: "test",
    seed: 42,
    ...more.spec,
    target: {
      driver: "mysql",
      user: USER,
      database: DATABASE,
      endpoints: ports.map((port, i) => ({ name: `e${i + 1}`, host: "127.0.0.1", port })),
      ...more.target,
    },
    data: more.data ?? {},
    steps,
  });
}

export interface EngineRun {
  result: RunResult;
  lines: string[];
}

export async function runEngine(
  spec: RunSpec,
  options: {
    signal?: AbortSignal;
    out?: string;
    status?: string;
    entry?: URL;
    password?: string;
    observer?: Observer | undefined;
    onLine?(line: string): void;
  } = {},
): Promise<EngineRun> {
  const lines: string[] = [];
  const result = await run(spec, {
    password: options.password ?? PASSWORD,
    entry: options.entry ?? CLI,
    signal: options.signal ?? new AbortController().signal,
    out: options.out,
    status: options.status,
    observer: options.observer,
    onLine(line) {
      lines.push(line);
      options.onLine?.(line);
    },
  });
  return { result, lines };
}

/** Rows of one text query on a connection that nothing else uses. */
export function ask(connection: Connection, sql: string): Promise<Value[][]> {
  return new Promise((resolve, reject) => {
    connection.listener = { done: () => resolve(connection.takeRows() ?? []), failed: reject, lost: reject };
    connection.captureNext();
    connection.query(sql);
  });
}

export function only(run: EngineRun): StepResult {
  const step = run.result.steps[0];
  if (!step || run.result.steps.length !== 1)
    throw new Error(
      `one window was expected, there are ${run.result.steps.length}: ${run.result.incompleteReason ?? ""}`,
    );
  return step;
}
