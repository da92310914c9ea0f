/** In which order the windows of a run come. */
import type { RunSpec } from "../contract.ts";
import { Random } from "./random.ts";

export interface Slot {
  step: number;
  repeat: number;
}

/**
 * given: step by step, repeats together; interleaved: all steps once, then all again; random: shuffled by the seed
 * (Fisher-Yates).
 */
export function schedule(spec: RunSpec): Slot[] {
  const slots: Slot[] = spec.steps.flatMap(({ repeats }, step) =>
    Array.from({ length: repeats }, (_, repeat) => ({ step, repeat })),
  );
  if (spec.order === "interleaved") return slots.toSorted((a, b) => a.repeat - b.repeat || a.step - b.step);
  if (spec.order === "random") {
    const random = new Random(spec.seed, 0x0bde12);
    for (let i = slots.length - 1; i > 0; i--) {
      const j = random.uniform(0, i);
      [slots[i], slots[j]] = [slots[j] as Slot, slots[i] as Slot];
    }
  }
  return slots;
}
