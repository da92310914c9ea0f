/** Which legs run at the same time. Pure but for the legs themselves. */
import { kindOf } from "../../infra/sites/kinds/index.ts";
import type { Leg } from "./file.ts";

/**
 * Whether two legs may run at once. Nodes in AWS are a leg's own. A Proxmox host or one's own host carries one leg at a
 * time: two would measure each other, and ask for the same addresses. This machine carries local nodes only while no
 * other leg is under way, for it runs the engine of each of them.
 */
export function mayRunTogether(a: Leg, b: Leg): boolean {
  if (a.stack === b.stack || isLocal(a) || isLocal(b)) return false;
  const taken = placesOf(a);
  return placesOf(b).every((place) => !taken.includes(place));
}

export const isLocal = (leg: Leg): boolean => leg.cell.config.sites.some((site) => kindOf(site).sharesMachine);

/** The hardware that a leg cannot share, by name. */
function placesOf(leg: Leg): string[] {
  return leg.cell.config.sites.flatMap((site) => kindOf(site).exclusive(site));
}

type Together<T> = (a: T, b: T) => boolean;

/** First queued leg compatible with all running legs; undefined when there is none, or no room. */
function next<T>(waiting: readonly T[], running: readonly T[], most: number, together: Together<T>): T | undefined {
  return running.length < most ? waiting.find((w) => running.every((r) => together(w, r))) : undefined;
}

/**
 * Runs all items, at most `most` at once, in their order as far as `together` allows. Ends when the last one has ended;
 * rejects with the first rejection, and then begins nothing more but still waits for what is under way.
 */
export async function runTogether<T>(
  items: readonly T[],
  most: number,
  together: Together<T>,
  run: (item: T) => Promise<void>,
): Promise<void> {
  let waiting = [...items];
  const running = new Map<T, Promise<void>>();
  const errors: unknown[] = [];
  while (waiting.length + running.size > 0) {
    const item = next(waiting, [...running.keys()], most, together);
    if (item === undefined) {
      await Promise.race(running.values());
      continue;
    }
    waiting = waiting.filter((w) => w !== item);
    running.set(
      item,
      run(item)
        .catch((error: unknown) => {
          errors.push(error);
          waiting = [];
        })
        .finally(() => running.delete(item)),
    );
  }
  if (errors.length > 0) throw errors[0];
}

/** How long that takes, in the unit of `lasting`. */
export function makespan<T>(
  items: readonly T[],
  most: number,
  together: Together<T>,
  lasting: (item: T) => number,
): number {
  let waiting = [...items],
    clock = 0;
  const running = new Map<T, number>();
  while (waiting.length + running.size > 0) {
    const item = next(waiting, [...running.keys()], most, together);
    if (item !== undefined) {
      waiting = waiting.filter((w) => w !== item);
      running.set(item, clock + lasting(item));
      continue;
    }
    const [first, end] = [...running].reduce((a, b) => (b[1] < a[1] ? b : a));
    running.delete(first);
    clock = end;
  }
  return clock;
}
