/** The measuring scripts' lines -> a matrix. Pure. */

/** One ordered pair. null: could not be measured. */
export interface PairMeasure {
  from: string;
  to: string;
  rttMs: { min: number; avg: number; max: number; mdev: number } | null;
  lossPercent: number;
  /** Largest packet that crosses the tunnel unfragmented, bytes. */
  pathMtu: number | null;
  mbitPerSecond: number | null;
}

export const asText = (value: unknown): string => String(value ?? "");

/** rtts[i] is what node names[i] printed, flows[i] what names[i + 1] printed. */
export function parseMeasured(names: string[], rtts: string[], flows: string[]): PairMeasure[] {
  const throughput = new Map<string, number>();
  for (const [i, text] of flows.entries()) {
    for (const line of text.split("\n")) {
      const m = /^flow (\S+) (to|from) ([\d.]+)$/.exec(line.trim());
      if (m) throughput.set(m[2] === "to" ? `${names[i + 1]} ${m[1]}` : `${m[1]} ${names[i + 1]}`, Number(m[3]));
    }
  }
  return names.flatMap((from, i) =>
    (rtts[i] ?? "").split("\n").flatMap((line): PairMeasure[] => {
      const m = /^rtt (\S+) (\S+) ([\d.]+) (\S+)$/.exec(line.trim());
      if (!m) return [];
      const [min, avg, max, mdev] = m[2]!.split("/").map(Number);
      return [
        {
          from,
          to: m[1]!,
          rttMs: m[2] === "-" ? null : { min: min!, avg: avg!, max: max!, mdev: mdev! },
          lossPercent: Number(m[3]),
          pathMtu: m[4] === "-" ? null : Number(m[4]),
          mbitPerSecond: throughput.get(`${from} ${m[1]}`) ?? null,
        },
      ];
    }),
  );
}

/** Highest and lowest average round trip between nodes of two different sites, ms; null when there is one site. */
export function betweenSites(
  matrix: PairMeasure[],
  siteOf: Record<string, string>,
): { min: number; max: number } | null {
  const values = matrix.filter((p) => siteOf[p.from] !== siteOf[p.to] && p.rttMs).map((p) => p.rttMs!.avg);
  return values.length === 0 ? null : { min: Math.min(...values), max: Math.max(...values) };
}
