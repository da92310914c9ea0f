/** Numbers that several checks and scripts ask of a configuration. Pure. */
import { expandSteps } from "./profiles.ts";
import type { Config } from "./schema.ts";

/** Connections that the server keeps for others than the load: health checks, facts, an operator. */
export const CONNECTION_HEADROOM = 30;

export const databaseNodes = (config: Pick<Config, "sites">): number =>
  config.sites.reduce((sum, s) => sum + s.nodes, 0);

export const maxThreads = (config: Pick<Config, "profile">): number =>
  Math.max(...expandSteps(config.profile).map((s) => s.threads));
