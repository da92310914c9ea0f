/** Whether an account has room for legs that stand side by side: each of them asks only for itself. */

import { asked } from "../../infra/preflight/aws.ts";
import { AwsAccount } from "../../infra/preflight/aws-account.ts";
import { type Demand, demandOf, type QuotaAccount, quotaChecks } from "../../infra/preflight/aws-quotas.ts";
import { type AwsAccess, accessOf } from "../../infra/sites/aws/access.ts";
import { planNodes } from "../../infra/topology.ts";
import type { Leg } from "./file.ts";
import { mayRunTogether } from "./schedule.ts";

export type LegAccount = QuotaAccount & Pick<AwsAccount, "identity">;

/**
 * One sentence per quota that legs standing together would exceed, and what could not be asked. Which legs meet is
 * decided by how long each takes: those that need most are counted.
 */
export async function sideBySide(
  legs: Leg[],
  parallel: number,
  project: string,
  open: (access: AwsAccess) => LegAccount = (access) => new AwsAccount(access),
): Promise<{ problems: string[]; skipped: string[] }> {
  // Repeats of a cell have one stack and never stand together.
  const cells = [...new Map(legs.map((leg) => [leg.stack, leg])).values()];
  const meeting = cells.filter((leg) => cells.some((other) => mayRunTogether(leg, other)));
  const places = new Map<string, { region: string; account: LegAccount; demands: Map<Leg, Demand[]> }>();
  const skipped: string[] = [];
  for (const leg of parallel > 1 ? meeting : []) {
    const { config } = leg.cell,
      plans = planNodes(config);
    for (const site of config.sites) {
      if (site.kind !== "aws") continue;
      const access = accessOf(site, config.aws, process.env),
        key = JSON.stringify(access);
      const place = places.get(key) ?? { region: site.region, account: open(access), demands: new Map() };
      places.set(key, place);
      const own = demandOf(
        site,
        plans.filter((p) => p.site === site.name),
      );
      place.demands.set(leg, [...(place.demands.get(leg) ?? []), { ...own, who: `leg ${leg.cell.name}` }]);
    }
  }
  const problems: string[] = [];
  for (const { region, account, demands } of places.values()) {
    if (demands.size < 2) continue;
    const known = await account.identity().catch((error: Error) => error);
    if (known instanceof Error) {
      skipped.push(`quotas of legs side by side in ${region}: ${known.message.split("\n")[0]}`);
      continue;
    }
    const most = largest(demands, parallel);
    if (most.length < 2) continue;
    const checks = await quotaChecks(
      most.flatMap((leg) => demands.get(leg)!),
      {
        region,
        owned: { id: undefined, name: project },
        account,
        asked: (check, ask) => asked(check, "study", ask),
        instead: { cpus: "a lower --parallel", addresses: "a lower --parallel", networks: "a lower --parallel" },
      },
    );
    problems.push(...checks.filter((c) => !c.ok).map((c) => c.message));
    skipped.push(...checks.filter((c) => c.skipped).map((c) => `${c.check}: ${c.message}`));
  }
  return { problems, skipped };
}

/** Legs that may stand at once, those that need most first: a set that can really come about. */
function largest(demands: Map<Leg, Demand[]>, parallel: number): Leg[] {
  const chosen: Leg[] = [];
  for (const [leg] of [...demands].sort(([, a], [, b]) => nodesOf(b) - nodesOf(a)))
    if (chosen.length < parallel && chosen.every((other) => mayRunTogether(leg, other))) chosen.push(leg);
  return chosen;
}

const nodesOf = (demands: Demand[]): number => demands.reduce((sum, d) => sum + d.types.length, 0);
