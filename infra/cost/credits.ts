/**
 * CPU credits of burstable instances in unlimited mode: what they use beyond the earned ones is billed by the vCPU-hour,
 * at the latest when the instance ends. Pure.
 */
import type { RunResult } from "../../workloads/contract.ts";

export interface Burst {
  vcpus: number;
  /** Of each vCPU, earned all the time: 0.2 is 20 %. */
  baseline: number;
  /** Name of the price per vCPU-hour, in prices.ts. */
  price: "t3-surplus-vcpu-hour" | "t4g-surplus-vcpu-hour";
}

/** By size, of t3, t3a and t4g: EC2 user guide, "Key concepts for burstable performance instances". */
const SIZES: Record<string, [vcpus: number, baseline: number]> = {
  nano: [2, 0.05],
  micro: [2, 0.1],
  small: [2, 0.2],
  medium: [2, 0.2],
  large: [2, 0.3],
  xlarge: [4, 0.4],
  "2xlarge": [8, 0.4],
};

/** t2 has other baselines and credits at its launch; it, and what is not burstable, is undefined here. */
export function burstOf(type: string): Burst | undefined {
  const [, family, size] = /^(t3a?|t4g)\.(\w+)$/.exec(type) ?? [];
  const found = SIZES[size ?? ""];
  return (
    found && {
      vcpus: found[0],
      baseline: found[1],
      price: family === "t4g" ? "t4g-surplus-vcpu-hour" : "t3-surplus-vcpu-hour",
    }
  );
}

/** A node that may use more than it earns. */
export interface Surplus extends Burst {
  node: string;
  perVcpuHour: number;
}

/** With every vCPU busy all the time, per hour: nobody knows beforehand how much of it will be. */
export const atMost = (nodes: Surplus[]): number =>
  nodes.reduce((sum, n) => sum + n.vcpus * (1 - n.baseline) * n.perVcpuHour, 0);

/**
 * What a run used beyond what its nodes earned in the same hours, by the CPU that was sampled in its windows. Undefined
 * when no node was sampled. Between the windows, while rows are loaded, nobody looked: that use is not in it.
 */
export function surplusOf(
  result: RunResult,
  nodes: Surplus[],
  hours: number,
): { vcpuHours: number; cost: number } | undefined {
  let vcpuHours = 0,
    cost = 0,
    sampled = false;
  for (const node of nodes) {
    const used = result.steps.map((step) => {
      const busy = step.hosts?.find((h) => h.node === node.node)?.cpu?.avg;
      sampled ||= busy !== undefined;
      return ((busy ?? 0) / 100) * node.vcpus * (step.windowSeconds / 3600);
    });
    const beyond = Math.max(0, used.reduce((sum, one) => sum + one, 0) - node.vcpus * node.baseline * hours);
    vcpuHours += beyond;
    cost += beyond * node.perVcpuHour;
  }
  return sampled ? { vcpuHours, cost } : undefined;
}
