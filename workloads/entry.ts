/** What a workload of one's own is written with, as the package entry `meshbench/workload`. */
export { z } from "zod";
export type { DialectName } from "./contract.ts";
export type { ParamType, Statement, StatementKind, StatementSpec, Value } from "./drivers/driver.ts";
export type { ParamValue } from "./drivers/params.ts";
export type { Actor, Op, Plan, Template } from "./engine/plan.ts";
export type { Random } from "./engine/random.ts";
export { control, execute, pipeline } from "./ops.ts";
export { COMMON, choice, count, flag, real, text } from "./options.ts";
export type { Cell } from "./rows.ts";
export { between, rowCount, rowsOf, rowsOfParents } from "./rows.ts";
export type {
  Column,
  ColumnType,
  DataContext,
  Dataset,
  Index,
  PlanContext,
  Query,
  Rows,
  RunStep,
  Table,
  Workload,
} from "./workload.ts";
