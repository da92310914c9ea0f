/** Student's t, once for the engine's intervals and the report's. */
import jstat from "jstat";

/** The 97.5 % quantile: what a two-sided 95 % interval takes. `degrees` need not be whole; NaN unless above 0. */
export function studentT975(degrees: number): number {
  return degrees > 0 ? jstat.jStat.studentt.inv(0.975, degrees) : Number.NaN;
}
