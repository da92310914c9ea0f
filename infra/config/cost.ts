/** Prices by configuration, over the defaults of cost/prices.ts. */
import { z } from "zod";

const price = z.number().nonnegative();

export const costSchema = z.strictObject({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "an ISO 4217 code such as USD")
    .default("USD"),
  /** The day the given prices are from. Pulumi hands a date that stands unquoted in YAML over as a moment. */
  asOf: z.preprocess(
    (given) => (typeof given === "string" ? given.replace(/^(\d{4}-\d\d-\d\d)[ T]00:00:00.*$/, "$1") : given),
    z.iso.date("a date such as 2026-01-31").optional(),
  ),
  /** By name, as cost/prices.ts lists them: { "t3.medium": 0.0416, "gp3-gb-month": 0.08 }. */
  prices: z.record(z.string(), price).default({}),
  /** Of one node of a site that has no price list: { home: 0.02 }. */
  nodeHour: z.record(z.string(), price).default({}),
});

export type CostConfig = z.infer<typeof costSchema>;
