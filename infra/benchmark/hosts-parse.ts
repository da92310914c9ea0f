/** Samples of a node (hosts.ts) -> what it did in a window. Pure. */
import type { HostLoad } from "../../workloads/contract.ts";

export interface Sample {
  /** Seconds since the node's boot. */
  up: number;
  /** Clock ticks: user, nice, system, idle, iowait, irq, softirq, steal. */
  cpu?: number[] | undefined;
  /** Microseconds of CPU time of the container that the node is. */
  own?: number | undefined;
  /** kB available. */
  mem?: number | undefined;
  /** Sectors of 512 bytes: read, written. */
  disk?: number[] | undefined;
  /** Bytes: received, sent. */
  net?: number[] | undefined;
}

export interface Samples {
  source: "machine" | "container";
  cores: number;
  samples: Sample[];
}

const HEADER = /^meshbench-hosts 1 source=(machine|container) cores=(\d+)(?: quota=(\d+)\/(\d+))?$/;

/** Undefined when the text holds no header. Lines that are cut, or of another kind, are left out. */
export function parseSamples(text: string): Samples | undefined {
  const lines = text.split("\n");
  // What stands behind the last line feed was cut off by the end of the sampling.
  lines.pop();
  // A sampler that was started again wrote its header again; the last one is in force.
  const header = lines.findLast((line) => HEADER.test(line));
  if (header === undefined) return undefined;
  const [, source, processors, quota, period] = HEADER.exec(header)!;
  const limit = quota === undefined ? Infinity : Number(quota) / Number(period);
  return {
    source: source as Samples["source"],
    cores: Math.min(Number(processors), limit),
    samples: lines.flatMap((line) => sampleOf(line) ?? []),
  };
}

function sampleOf(line: string): Sample | undefined {
  if (!/^up=\d+\.\d+( [a-z]+=\d+(,\d+)*)*$/.test(line)) return undefined;
  const parts = new Map(
    line.split(" ").map((part) => {
      const at = part.indexOf("=");
      return [
        part.slice(0, at),
        part
          .slice(at + 1)
          .split(",")
          .map(Number),
      ] as const;
    }),
  );
  const list = (name: string, length: number): number[] | undefined =>
    parts.get(name)?.length === length ? parts.get(name) : undefined;
  return {
    up: parts.get("up")![0]!,
    cpu: list("cpu", 8),
    own: list("own", 1)?.[0],
    mem: list("mem", 1)?.[0],
    disk: list("disk", 2),
    net: list("net", 2),
  };
}

/** Of a window, less than this share is covered by samples: said in the figures. */
const COVERED = 0.9;
const SECTOR = 512;

/**
 * `from` and `to`: the window, seconds since the node's boot. What lies across its edges counts by its share inside.
 */
export function hostLoad(node: string, { source, cores, samples }: Samples, from: number, to: number): HostLoad {
  const pieces = samples.slice(1).flatMap((b, i) => {
    const a = samples[i]!,
      seconds = b.up - a.up;
    const inside = Math.min(b.up, to) - Math.max(a.up, from);
    return seconds > 0 && inside > 0 ? [{ a, b, seconds, share: inside / seconds }] : [];
  });
  const covered = pieces.reduce((sum, p) => sum + p.seconds * p.share, 0);
  if (covered === 0) return { node, source, gap: "no samples in this window" };

  const busy = new Portion(),
    steal = new Portion(),
    iowait = new Portion(),
    own = new Portion();
  const [read, written, received, sent] = [new Total(), new Total(), new Total(), new Total()];
  for (const { a, b, seconds, share } of pieces) {
    if (a.cpu && b.cpu) {
      const [user, nice, system, idle, waiting, irq, softirq, stolen] = b.cpu.map((ticks, i) =>
        grown(a.cpu![i]!, ticks),
      ) as [number, number, number, number, number, number, number, number];
      const used = user + nice + system + irq + softirq,
        all = used + idle + waiting + stolen;
      busy.add(used, all, share);
      steal.add(stolen, all, share);
      iowait.add(waiting, all, share);
    }
    if (a.own !== undefined && b.own !== undefined) own.add(grown(a.own, b.own) / 1e6, seconds * cores, share);
    for (const [total, of, i] of [
      [read, "disk", 0],
      [written, "disk", 1],
      [received, "net", 0],
      [sent, "net", 1],
    ] as const)
      total.add(a[of]?.[i], b[of]?.[i], share);
  }
  const within = samples.filter((s) => s.up >= from && s.up <= to);
  const memory = (within.length > 0 ? within : pieces.flatMap(({ a, b }) => [a, b])).flatMap((s) => s.mem ?? []);
  const machine = busy.spread() && {
    cpu: busy.spread()!,
    steal: steal.spread()!,
    iowait: iowait.spread()!,
    ...(memory.length > 0 ? { memoryAvailableMinMb: Math.round(Math.min(...memory) / 1024) } : {}),
    ...(read.seen
      ? { diskReadBytes: Math.round(read.sum * SECTOR), diskWrittenBytes: Math.round(written.sum * SECTOR) }
      : {}),
  };
  const cpu = source === "container" ? own.spread() : busy.spread();
  return {
    node,
    source,
    cores,
    samples: within.length,
    ...(cpu ? { cpu } : {}),
    ...(machine ? { machine } : {}),
    ...(received.seen ? { mesh: { receivedBytes: Math.round(received.sum), sentBytes: Math.round(sent.sum) } } : {}),
    ...(covered < COVERED * (to - from)
      ? { gap: `samples cover ${covered.toFixed(1)} of ${(to - from).toFixed(1)} s` }
      : {}),
  };
}

/**
 * Within one boot these only grow, but for idle, iowait and steal, which the kernel corrects downwards now and then.
 */
const grown = (before: number, after: number): number => Math.max(0, after - before);

const percent = (value: number): number => Math.round(Math.min(100, 100 * value) * 10) / 10;

/**
 * Parts of a whole over pieces of time. min and max are of pieces that lie in the window by half at least; all count by
 * their share.
 */
class Portion {
  private part = 0;
  private whole = 0;
  private readonly seen: { value: number; share: number }[] = [];

  add(part: number, whole: number, share: number): void {
    if (whole <= 0) return;
    this.part += part * share;
    this.whole += whole * share;
    this.seen.push({ value: part / whole, share });
  }

  /** Per cent. */
  spread(): { min: number; avg: number; max: number } | undefined {
    if (this.seen.length === 0) return undefined;
    const mostly = this.seen.filter((s) => s.share >= 0.5);
    const values = (mostly.length > 0 ? mostly : this.seen).map((s) => s.value);
    return {
      min: percent(Math.min(...values)),
      avg: percent(this.part / this.whole),
      max: percent(Math.max(...values)),
    };
  }
}

/** What a counter grew by. One that is smaller than before began again at zero, as that of a new interface does. */
class Total {
  sum = 0;
  seen = false;

  add(before: number | undefined, after: number | undefined, share: number): void {
    if (before === undefined || after === undefined) return;
    this.seen = true;
    this.sum += (after < before ? after : after - before) * share;
  }
}
