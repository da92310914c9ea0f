/** Workload profiles by name. */
import type { z } from "zod";
import { type Profile, profileSchema } from "./schema.ts";

const OLTP = ["oltp_read_only", "oltp_write_only", "oltp_read_write"];

/** One entry per workload, in the order in which they are measured. */
function sweep(
  workloads: string[],
  threads: number[],
  warmupSeconds: number,
  durationSeconds: number,
): z.input<typeof profileSchema>["steps"] {
  return workloads.map((workload) => ({ workload, threads, warmupSeconds, durationSeconds }));
}

/** seed: the study whose method it repeats; published figures: report/published. */
export const PROFILES: Record<string, z.input<typeof profileSchema>> = {
  /** A minute of load: enough to see the shape, not enough to publish. */
  quick: {
    data: { tables: 4, tableSize: 10_000 },
    steps: sweep(OLTP, [1, 4, 16], 1, 6),
  },
  /** For checks of the chain itself. */
  smoke: {
    data: { tables: 1, tableSize: 1_000 },
    steps: sweep(OLTP, [2], 0.5, 2),
  },
  /**
   * MariaDB Galera on a hybrid cloud: three workloads, 120 s each, 1 to 192 threads. Its data size is not in the text.
   */
  "published-hybrid": {
    data: { tables: 10, tableSize: 100_000 },
    steps: sweep(OLTP, [1, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192], 10, 120),
  },
};

/** Throws a sentence that lists what there is. */
export function namedProfile(name: string): Profile {
  const found = Object.hasOwn(PROFILES, name) ? PROFILES[name] : undefined;
  if (!found)
    throw new RangeError(
      `meshbench:profile: "${name}"; expected one of ${Object.keys(PROFILES).join(", ")}, or a profile written out (data, steps)`,
    );
  return profileSchema.parse(found);
}

/** Steps with one thread count each, as the contract has them. */
export function expandSteps(profile: Profile): (Omit<Profile["steps"][number], "threads"> & { threads: number })[] {
  return profile.steps.flatMap((step) => [step.threads].flat().map((threads) => ({ ...step, threads })));
}

/** Seconds of load that a profile asks for, prepare not included. */
export function loadSeconds(profile: Profile): number {
  return expandSteps(profile).reduce(
    (sum, s) => sum + (s.warmupSeconds + s.durationSeconds) * s.repeats + profile.restSeconds,
    0,
  );
}
