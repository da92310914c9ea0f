/** What the generator hands to the page: figures only, no code and no markup. Times in ms, throughput per second. */

export interface LineSeries {
  name: string;
  colour: number;
  points: ({ x: number; y: number; half: number | null; note?: string } | null)[];
}
export interface Mark {
  from: number;
  to: number;
  label: string;
}

interface Base {
  id: string;
  title: string;
  unit: string;
  description: string;
}

export type ChartSpec =
  /** Over thread counts; equal steps between them. half: half of the 95 % interval. */
  | (Base & { kind: "lines"; threads: number[]; logarithmic: boolean; series: LineSeries[] })
  /** One run over its time. */
  | (Base & {
      kind: "time";
      /** Names of the left and the right axis; absent: tps, and p95 in ms. */
      axes?: [string, string];
      series: { name: string; axis: 0 | 1; points: [seconds: number, value: number | null][] }[];
      outages: Mark[] /** Stretches of one workload. */;
      groups: Mark[];
    })
  /** One curve per subject, for each of several thread counts that the reader can choose. */
  | (Base & {
      kind: "percentiles" | "density";
      chosen: number;
      variants: { label: string; series: { name: string; colour: number; points: [number, number][] }[] }[];
    })
  | (Base & {
      kind: "bars";
      categories: string[];
      series: { name: string; colour: number; values: (number | null)[] }[];
    })
  | (Base & { kind: "heat"; nodes: string[]; cells: [column: number, row: number, value: number][] })
  | (Base & {
      kind: "scatter";
      categories: string[];
      series: { name: string; colour: number; values: (number | null)[] }[];
    });
