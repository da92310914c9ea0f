/** Something of the project's that exists, and whether it should. */
import type { Site } from "../../infra/config/sites/index.ts";

export type Place = "stack" | Site["kind"];

export interface Labels {
  /** Undefined where nothing says it. */
  stack?: string | undefined;
  /** The random one on everything that a stack made; namesakes differ in it. */
  stackId?: string | undefined;
  owner?: string | undefined;
  /** ISO 8601, UTC. */
  expires?: string | undefined;
}

export interface Found extends Labels {
  place: Place;
  /** What it is asked for and shown by: a stack, a lab, "us-east-1 hybrid". */
  name: string;
  /** What it consists of: "3 nodes", "2 instances, 2 addresses". */
  what: string;
  /** Past its expiry. One that has none never is. */
  expired: boolean;
  /** Its stack's id was never seen from here: it may be a colleague's, and goes only when it is named. */
  foreign: boolean;
}

/** A way to take it away; resolves when it is gone, rejects with one sentence. */
export type Removable = Found & { remove: (say: (line: string) => void) => Promise<void> };

/** What was found in one place, and what could not be looked at, with the reason. */
export interface Look {
  found: Removable[];
  skipped: string[];
}

export function isExpired(expires: string | undefined, now: number): boolean {
  return Date.parse(expires ?? "") < now;
}

/**
 * The time at which all of several parts are over: the last of them. Undefined when a part has none, as it may be
 * wanted for ever, or when there are no parts.
 */
export function lastExpiry(parts: (string | undefined)[]): string | undefined {
  const times = parts.map((part) => Date.parse(part ?? ""));
  return times.length === 0 || times.some(Number.isNaN) ? undefined : parts[times.indexOf(Math.max(...times))];
}

/** Without `all`, what has outlived its expiry; with names, only what is called so or belongs to a stack that is. */
export function chosen<T extends Found>(found: T[], names: string[], all: boolean): T[] {
  return found.filter(
    (f) =>
      (all || f.expired) &&
      (names.length === 0 || isNamed(f, names) || (f.stack !== undefined && names.includes(f.stack))),
  );
}

/** By what is its alone: a stack's name is others' too. */
export const isNamed = (f: Found, names: string[]): boolean =>
  names.includes(f.name) || (f.stackId !== undefined && names.includes(f.stackId));

/** Of what was chosen, what a removal takes. */
export const taken = <T extends Found>(chosenOnes: T[], names: string[]): T[] =>
  chosenOnes.filter((f) => !f.foreign || isNamed(f, names));

/**
 * Nobody is asked about what is over and costs nobody's money: only before something in a cloud or still wanted goes.
 */
export const needsConsent = (f: Found, inCloud: boolean): boolean => !f.expired || inCloud;

export const counted = (n: number, one: string): string =>
  `${n} ${one}${n === 1 ? "" : one.endsWith("s") ? "es" : "s"}`;

/** "3 h ago", "in 2 d". */
export function when(expires: string | undefined, now: number): string {
  const difference = Date.parse(expires ?? "") - now;
  if (Number.isNaN(difference)) return "never";
  const hours = Math.abs(difference) / 3_600_000;
  const length =
    hours < 1 ? `${Math.round(hours * 60)} min` : hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} d`;
  return difference < 0 ? `${length} ago` : `in ${length}`;
}
