/** How much room a profile's data takes on every database node. Pure. */
import type { Profile } from "./schema.ts";

/**
 * A row of sbtest (int, int, char(120), char(60)) with its share of both trees and InnoDB's free space: 260 bytes,
 * rounded up.
 */
const BYTES_PER_ROW = 260;
/** Debian with the server and its logs. */
const SYSTEM_GB = 4;

export function dataGb(profile: Pick<Profile, "data">): number {
  return (profile.data.tables * profile.data.tableSize * BYTES_PER_ROW) / 1e9;
}

/**
 * Twice the data, for undo, redo, the writeset cache and a state transfer beside it; and the system, when it shares the
 * disk.
 */
export function neededDiskGb(profile: Pick<Profile, "data">, withSystem: boolean): number {
  return Math.ceil(2 * dataGb(profile)) + (withSystem ? SYSTEM_GB : 1);
}
