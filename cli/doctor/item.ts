/** One line of what doctor says. */

export interface Item {
  /** What was looked at: "Node", "AWS credentials for us-east-1". */
  check: string;
  /** skipped: it could not be asked here, and nothing is known; that alone stops nobody. */
  status: "ok" | "missing" | "skipped";
  /** What was found, or one sentence about what to do. */
  message: string;
}

export const ok = (check: string, message: string): Item => ({ check, status: "ok", message });
export const missing = (check: string, message: string): Item => ({ check, status: "missing", message });
export const skipped = (check: string, message: string): Item => ({ check, status: "skipped", message });

export interface StackReport {
  stack: string;
  /** Nothing that it needs is missing here. */
  runnable: boolean;
  checks: Item[];
}

export interface Report {
  ok: boolean;
  machine: Item[];
  /** What only stacks with local sites need. */
  localNodes: Item[];
  stacks: StackReport[];
}

const complete = (items: Item[]): boolean => items.every((i) => i.status !== "missing");

export function judge(
  machine: Item[],
  localNodes: Item[],
  checked: { stack: string; local: boolean; checks: Item[] }[],
  asked: string[],
): Report {
  const stacks = checked.map(
    ({ stack, local, checks }): StackReport => ({
      stack,
      runnable: complete(machine) && complete(checks) && (!local || complete(localNodes)),
      checks,
    }),
  );
  // Nobody has every cloud: unless stacks are named, one that runs is enough.
  const fine = asked.length > 0 ? stacks.every((s) => s.runnable) : stacks.some((s) => s.runnable);
  return { ok: fine, machine, localNodes, stacks };
}

export function render(report: Report): string {
  const parts: [string, Item[]][] = [
    ["This machine", report.machine],
    ["Local nodes", report.localNodes],
    ...report.stacks.map(({ stack, runnable, checks }): [string, Item[]] => [
      `Stack ${stack}: ${runnable ? "can be run here" : "cannot be run here yet"}`,
      checks,
    ]),
  ];
  const width = Math.max(...parts.flatMap(([, items]) => items.map((i) => i.check.length)));
  return `${parts.map(([head, items]) => [head, ...items.map((i) => `  ${i.status.padEnd(7)}  ${i.check.padEnd(width)}  ${i.message}`)].join("\n")).join("\n\n")}\n`;
}
