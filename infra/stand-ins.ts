/** What in this run is not the real thing, in words, for its result. */
import type { Config } from "./config/schema.ts";
import { kindOf } from "./sites/kinds/index.ts";

/** Set by whoever starts the engine with stand-ins: their names, separated by semicolons. */
export const STAND_INS_VARIABLE = "MESHBENCH_STAND_INS";

export function namedStandIns(config: Pick<Config, "sites" | "links">, environment: NodeJS.ProcessEnv): string[] {
  const plugins = (environment[STAND_INS_VARIABLE] ?? "")
    .split(";")
    .map((s) => s.trim())
    .filter(Boolean);
  const local = config.sites.filter((s) => kindOf(s).sharesMachine);
  return [
    ...(local.length > 0
      ? [`nodes of ${local.map((s) => s.name).join(", ")} are containers that share one machine`]
      : []),
    ...config.links.map(
      (l) =>
        `the network between ${l.between.join(" and ")} is emulated: ${l.rttMs} ms round trip${l.jitterMs ? `, ${l.jitterMs} ms jitter` : ""}${l.lossPercent ? `, ${l.lossPercent} % loss` : ""}${l.rateMbit ? `, ${l.rateMbit} Mbit/s` : ""}`,
    ),
    ...plugins.map((name) => `${name} is a stand-in of this project`),
  ];
}
