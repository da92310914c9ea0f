/** The dialect of a target. */
import type { DialectName } from "../workload.ts";
import type { Dialect } from "./dialect.ts";
import { mysql } from "./mysql.ts";
import { postgres } from "./postgres.ts";

const DIALECTS: Record<DialectName, Dialect> = { mysql, postgres };

export const dialectNamed = (name: DialectName): Dialect => DIALECTS[name];

/** @param target.driver a protocol; until a server speaks another dialect over it, it tells the dialect too */
export const dialectOf = ({ driver }: { driver: DialectName }): Dialect => DIALECTS[driver];
