/** Prices of EC2 instances, their volumes and addresses, and of what leaves them. Pure. */
import type { AwsSite } from "../config/sites/aws.ts";
import { isBurstable } from "../config/sites/aws-check.ts";
import { typeOf } from "../sites/aws/types.ts";
import type { NodePlan } from "../topology.ts";
import { burstOf } from "./credits.ts";
import type { CostItem, PriceList, Prices } from "./price-list.ts";
import { HOURS_PER_MONTH, PRICES_REGION } from "./prices.ts";
import { round } from "./round.ts";

export const awsPrices: PriceList<AwsSite> = {
  items,
  burst: (site, roles) => (site.credits === "unlimited" ? burstOf(typeOf(site, roles)) : undefined),
  /** Only what leaves a zone is billed; between two regions each sender pays its own side. */
  perGb(site, other, { all }) {
    const price = (name: string): number => all[name] ?? 0;
    if (other.kind !== "aws") return price("traffic-internet-gb");
    if (other.name === site.name) return site.zones.length > 1 ? 2 * price("traffic-zone-gb") : undefined;
    return price(site.region === other.region ? "traffic-zone-gb" : "traffic-region-gb");
  },
};

function items(site: AwsSite, plan: NodePlan, { all: prices, given }: Prices): ReturnType<PriceList<AwsSite>["items"]> {
  const notes: string[] = [];
  const type = typeOf(site, plan.roles);
  const { sizeGb, iops, throughputMiBs } = site.disk;
  const price = (name: string): number => prices[name] ?? 0;
  const compute = prices[type] ?? null;
  if (compute === null) notes.push(`no price is known for ${type}; set meshbench:cost.prices["${type}"]`);
  if (site.region !== PRICES_REGION && given[type] === undefined)
    notes.push(`"${site.name}" is in ${site.region}, counted at prices of ${PRICES_REGION}`);
  if (site.spot !== false) notes.push(`"${site.name}" runs on spot instances, counted at the on-demand price`);
  if (site.credits === "unlimited" && isBurstable(type))
    notes.push(
      burstOf(type) === undefined
        ? `CPU credits of ${type} beyond the earned ones are billed on top and not counted here`
        : "CPU credits beyond the earned ones are billed on top of the price per hour",
    );
  if (site.private === true) notes.push(`the way out of "${site.name}", a NAT gateway and its traffic, is not counted`);
  const volume =
    sizeGb * price("gp3-gb-month") +
    Math.max(0, iops - 3000) * price("gp3-iops-month") +
    Math.max(0, throughputMiBs - 125) * price("gp3-mibs-month");
  const found: CostItem[] = [
    { node: plan.name, what: type, perHour: compute },
    {
      node: plan.name,
      what: `gp3 ${sizeGb} GB, ${iops} IOPS, ${throughputMiBs} MiB/s`,
      perHour: round(volume / HOURS_PER_MONTH),
    },
    ...(site.private === true
      ? []
      : [{ node: plan.name, what: "public IPv4 address", perHour: price("public-ipv4-hour") }]),
  ];
  return { items: found, notes };
}
