/** How much room a profile's data takes on every database node. Pure. */
import { engineOf } from "../databases/index.ts";
import type { Config } from "./schema.ts";

/** Debian with the server and its logs. */
const SYSTEM_GB = 4;

export function dataGb({ profile, database }: Pick<Config, "profile" | "database">): number {
  return (profile.data.tables * profile.data.tableSize * engineOf(database).bytesPerRow) / 1e9;
}

/**
 * Twice the data, for undo, redo, the writeset cache and a state transfer beside it; and the system, when it shares the
 * disk.
 */
export function neededDiskGb(config: Pick<Config, "profile" | "database">, withSystem: boolean): number {
  return Math.ceil(2 * dataGb(config)) + (withSystem ? SYSTEM_GB : 1);
}
