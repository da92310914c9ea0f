/** Which side of a barrier a driver stands on. */
import type { RunSpec } from "../../contract.ts";
import type { Barrier, BarrierOptions } from "./barrier.ts";
import { callBarrier } from "./caller.ts";
import { keepBarrier } from "./keeper.ts";

/** Undefined for a run of one driver. Rejects with one line when the others cannot be met. */
export async function openBarrier(spec: RunSpec, options: BarrierOptions = {}): Promise<Barrier | undefined> {
  const { drivers } = spec;
  if (drivers?.meet === undefined || drivers.count < 2) return undefined;
  const place = { ...drivers.meet, index: drivers.index, count: drivers.count };
  return drivers.index === 0 ? keepBarrier(place, spec.runId, options) : callBarrier(place, options);
}
