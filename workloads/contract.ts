/**
 * The one thing that infra, workloads, cli and report share: a RunSpec goes to the driver node, a RunResult comes back.
 * Both are versioned; a reader accepts every version up to its own. Times are milliseconds unless the name says
 * otherwise.
 */
export * from "./contract/context.ts";
export * from "./contract/explain.ts";
export * from "./contract/result.ts";
export * from "./contract/spec.ts";
export * from "./contract/window.ts";
