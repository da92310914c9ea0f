/** The dialect of a target. */
import type { DialectName, Target } from "../contract.ts";
import { dialectName } from "../contract.ts";
import type { Dialect } from "./dialect.ts";
import { mysql } from "./mysql.ts";
import { postgres } from "./postgres.ts";

const DIALECTS: Record<DialectName, Dialect> = { mysql, postgres };

export const dialectNamed = (name: DialectName): Dialect => DIALECTS[name];

export const dialectOf = (target: Pick<Target, "driver" | "dialect">): Dialect => DIALECTS[dialectName(target)];
