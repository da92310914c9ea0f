/**
 * Options of sysbench's workloads: sysbench 1.0.20's names (underscored; dashes are taken too), defaults and meanings.
 * tables and table_size stand in `data` of a spec, because all steps work on the same tables.
 */
import { z } from "zod";
import { DISTRIBUTIONS } from "../engine/distributions.ts";
import { COMMON, choice, count, flag, real, text } from "../options.ts";

/** How ids are drawn; the k column of the tables is drawn by them too. */
const random = {
  rand_type: choice("special", DISTRIBUTIONS, "Random numbers distribution"),
  rand_spec_iter: count(12, "Number of iterations used for numbers generation", { minimum: 1 }),
  rand_spec_pct: count(1, "Percentage of values to be treated as 'special' (for special distribution)", {
    maximum: 100,
  }),
  rand_spec_res: count(75, "Percentage of 'special' values to use (for special distribution)", { maximum: 99 }),
  rand_pareto_h: real(0.2, "Parameter h for pareto distribution", { minimum: 0.0001, maximum: 0.9999 }),
  rand_zipfian_exp: real(0.8, "Exponent of the zipfian distribution (sysbench 1.1)", { minimum: 0.0001 }),
};

const ids = {
  auto_inc: flag(
    true,
    "Use AUTO_INCREMENT column as Primary Key (for MySQL), or its alternatives in other DBMS. When disabled, use client-generated IDs",
  ),
};

/** Of a step. */
export const stepOptions = z.object({
  range_size: count(100, "Range size for range SELECT queries", { minimum: 1 }),
  point_selects: count(10, "Number of point SELECT queries per transaction"),
  simple_ranges: count(1, "Number of simple range SELECT queries per transaction"),
  sum_ranges: count(1, "Number of SELECT SUM() queries per transaction"),
  order_ranges: count(1, "Number of SELECT ORDER BY queries per transaction"),
  distinct_ranges: count(1, "Number of SELECT DISTINCT queries per transaction"),
  index_updates: count(1, "Number of UPDATE index queries per transaction"),
  non_index_updates: count(1, "Number of UPDATE non-index queries per transaction"),
  delete_inserts: count(1, "Number of DELETE/INSERT combinations per transaction"),
  range_selects: flag(true, "Enable/disable all range SELECT queries"),
  skip_trx: flag(false, "Don't start explicit transactions and execute all queries in the AUTOCOMMIT mode"),
  ...ids,
  random_points: count(10, "Number of random points in the IN() clause in generated SELECTs", { minimum: 1 }),
  number_of_ranges: count(10, "Number of random BETWEEN ranges per SELECT", { minimum: 1 }),
  delta: count(5, "Size of BETWEEN ranges"),
  ...random,
  ...COMMON,
});
export type StepOptions = z.output<typeof stepOptions>;

/** Of the tables. */
export const tableOptions = z.object({
  ...ids,
  secondary: flag(false, "Use a secondary index in place of the PRIMARY KEY"),
  create_secondary: flag(true, "Create a secondary index in addition to the PRIMARY KEY"),
  mysql_storage_engine: text(
    "innodb",
    /^[A-Za-z]\w{0,30}$/,
    "the name of a storage engine",
    "Storage engine, if MySQL is used",
  ),
  create_table_options: text(
    "",
    /^[\w\s=,.()'+-]*$/,
    "words, numbers, '=', ',', brackets and single quotes",
    "Text after the columns of CREATE TABLE, e.g. ROW_FORMAT=COMPRESSED (later sysbench versions)",
  ),
  ...random,
});
export type TableOptions = z.output<typeof tableOptions>;
