/** Prices that a run's cost is worked out from, by name; meshbench:cost.prices goes over them. */

/**
 * The day on which the defaults were noted. They are list prices of us-east-1 without tax or discount: check them
 * against your bill.
 */
export const PRICES_AS_OF = "2025-11-01";
export const PRICES_SOURCE = `AWS price list for us-east-1, on demand, as known at ${PRICES_AS_OF}; check yours`;
export const PRICES_REGION = "us-east-1";

/** USD. Instance types per hour; the others as their names say. */
export const PRICES: Readonly<Record<string, number>> = {
  "t3.micro": 0.0104,
  "t3.small": 0.0208,
  "t3.medium": 0.0416,
  "t3.large": 0.0832,
  "t3.xlarge": 0.1664,
  "t3.2xlarge": 0.3328,
  "t3a.medium": 0.0376,
  "t3a.large": 0.0752,
  "t4g.micro": 0.0084,
  "t4g.small": 0.0168,
  "t4g.medium": 0.0336,
  "t4g.large": 0.0672,
  "t4g.xlarge": 0.1344,
  "m6g.large": 0.077,
  "m7g.large": 0.0816,
  "c6g.large": 0.068,
  "c7g.large": 0.0725,
  "r6g.large": 0.1008,
  "m5.large": 0.096,
  "m5.xlarge": 0.192,
  "m5.2xlarge": 0.384,
  "m6i.large": 0.096,
  "m6i.xlarge": 0.192,
  "m6i.2xlarge": 0.384,
  "c5.large": 0.085,
  "c5.xlarge": 0.17,
  "c6i.large": 0.085,
  "c6i.xlarge": 0.17,
  "c6i.2xlarge": 0.34,
  "r5.large": 0.126,
  "r6i.large": 0.126,
  "r6i.xlarge": 0.252,
  "gp3-gb-month": 0.08,
  /** Beyond the 3000 that are included. */
  "gp3-iops-month": 0.005,
  /** Per MiB/s beyond the 125 that are included. */
  "gp3-mibs-month": 0.04,
  "public-ipv4-hour": 0.005,
  /** Per vCPU-hour beyond the earned credits, of burstable types in unlimited mode, with Linux. */
  "t3-surplus-vcpu-hour": 0.05,
  "t4g-surplus-vcpu-hour": 0.04,
  /** Out to the internet, the first 10 TB of a month. */
  "traffic-internet-gb": 0.09,
  /** Out to another region; it differs by the pair. */
  "traffic-region-gb": 0.02,
  /** Between zones, each way. */
  "traffic-zone-gb": 0.01,
};

/** AWS bills months as 730 hours. */
export const HOURS_PER_MONTH = 730;
