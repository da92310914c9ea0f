/** The workloads of sysbench 1.0.20. */
import type { Workload } from "../workload.ts";
import { oltp } from "./oltp.ts";
import { others } from "./others.ts";

export const sysbench: readonly Workload[] = [...oltp, ...others];
