/** What the sites must be told before anything can be created. */
import { meshSlots } from "../../mesh/plan.ts";
import { kindOf } from "../../sites/kinds/index.ts";
import { type Problem, sentenceOf } from "../problem.ts";
import type { Config } from "../schema.ts";
import { checkReach } from "./reach.ts";

/** One sentence per problem. Throws what meshSlots throws. */
export function checkPlaces(config: Config): Problem[] {
  const slots = meshSlots(config.sites);
  const problems = config.sites.flatMap((site, i) => kindOf(site).check(site, `meshbench:sites[${i}]`, config));
  // The same missing token is one problem, however many sites need it.
  return [...new Map(problems.map((one) => [sentenceOf(one), one])).values(), ...checkReach(config, slots)];
}
