/**
 * Latencies in an HDR histogram (3 significant digits). Inside it counts tenths of a microsecond, so that the error
 * stays at or below 0.1 % down to 0.1 ms; what leaves the process is in whole microseconds, V2 compressed, base64.
 * Minimum, maximum and sum are kept exactly.
 */

import type { Histogram } from "hdr-histogram-js";
import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64 } from "hdr-histogram-js";
import type { Latency } from "../../contract.ts";

const UNITS_PER_MS = 10_000;
/** One hour. A longer latency is counted as one hour; min, max and avg stay exact. */
const HIGHEST = 3_600_000 * UNITS_PER_MS;

function empty(): Histogram {
  return build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST,
    numberOfSignificantValueDigits: 3,
    autoResize: false,
    useWebAssembly: false,
  });
}

/** Latencies from here on, 214 s, go to the library one by one. */
const FRONT_LIMIT = 2 ** 31;
const FRONT_LENGTH = frontIndex(FRONT_LIMIT - 1) + 1;

/**
 * The library's own place for a whole number below 2^31, found with shifts: it takes a logarithm and a power per value,
 * which at two histograms per event is 3 % of the CPU of a point select (perf, 30,000 events/s). Three digits are 2048
 * sub-buckets.
 */
function frontIndex(units: number): number {
  const bucket = 21 - Math.clz32(units | 2047);
  return (bucket << 10) + (units >>> bucket);
}

/** What the library's class has beyond its published type. */
interface Inside {
  countsArrayLength: number;
  getCountAtIndex(i: number): number;
  /** The lowest value of a place. */
  valueFromIndex(i: number): number;
  medianEquivalentValue(v: number): number;
}

/** What a worker thread sends: the occupied buckets only. */
export interface PackedLatencies {
  values: Float64Array;
  counts: Float64Array;
  min: number;
  max: number;
  sum: number;
}

export class Latencies {
  readonly #counted = empty();
  /** Recorded since the last look, by the library's places. */
  readonly #front = new Uint32Array(FRONT_LENGTH);
  #waiting = 0;
  #min = Infinity;
  #max = -Infinity;
  #sum = 0;

  get count(): number {
    return this.#counted.totalCount + this.#waiting;
  }

  /** The library's histogram with everything in it. */
  #whole(): Histogram {
    if (this.#waiting === 0) return this.#counted;
    this.#waiting = 0;
    const inside = this.#counted as unknown as Inside;
    this.#front.forEach((count, i) => {
      if (count > 0) this.#counted.recordValueWithCount(inside.valueFromIndex(i), count);
    });
    this.#front.fill(0);
    return this.#counted;
  }

  record(milliseconds: number): void {
    const exact = milliseconds * UNITS_PER_MS;
    const units = exact < HIGHEST ? Math.round(exact) : HIGHEST;
    if (units < FRONT_LIMIT) {
      const at = frontIndex(units);
      this.#front[at] = (this.#front[at] as number) + 1;
      this.#waiting++;
    } else {
      this.#counted.recordValue(units);
    }
    if (milliseconds < this.#min) this.#min = milliseconds;
    if (milliseconds > this.#max) this.#max = milliseconds;
    this.#sum += milliseconds;
  }

  add(other: Latencies): void {
    if (other.count === 0) return;
    this.#whole().add(other.#whole() as never);
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
    this.#sum += other.#sum;
  }

  reset(): void {
    if (this.count > 0) this.#whole().reset();
    this.#min = Infinity;
    this.#max = -Infinity;
    this.#sum = 0;
  }

  /** Milliseconds; the value below or at which p percent of the latencies lie. NaN when there are none. */
  percentile(p: number): number {
    if (this.count === 0) return NaN;
    // The bucket's upper edge can lie above what was really seen, its middle below.
    return Math.min(Math.max(this.#whole().getValueAtPercentile(p) / UNITS_PER_MS, this.#min), this.#max);
  }

  summary(): Latency | null {
    if (this.count === 0) return null;
    return {
      min: this.#min,
      avg: this.#sum / this.count,
      p50: this.percentile(50),
      p90: this.percentile(90),
      p95: this.percentile(95),
      p99: this.percentile(99),
      p999: this.percentile(99.9),
      max: this.#max,
    };
  }

  pack(): PackedLatencies {
    const values: number[] = [];
    const counts: number[] = [];
    for (const { value, count } of buckets(this.#whole())) {
      values.push(value);
      counts.push(count);
    }
    return {
      values: Float64Array.from(values),
      counts: Float64Array.from(counts),
      min: this.#min,
      max: this.#max,
      sum: this.#sum,
    };
  }

  addPacked(packed: PackedLatencies): void {
    packed.values.forEach((value, i) =>
      this.#counted.recordValueWithCount(Math.min(value, HIGHEST), packed.counts[i] as number),
    );
    this.#min = Math.min(this.#min, packed.min);
    this.#max = Math.max(this.#max, packed.max);
    this.#sum += packed.sum;
  }

  /** HDR V2 compressed, base64, in whole microseconds (a latency below half of one counts as one). */
  encode(): string {
    const micro = build({
      bitBucketSize: 32,
      lowestDiscernibleValue: 1,
      highestTrackableValue: HIGHEST / 10,
      numberOfSignificantValueDigits: 3,
      autoResize: false,
      useWebAssembly: false,
    });
    for (const { value, count } of buckets(this.#whole()))
      micro.recordValueWithCount(Math.max(1, Math.round(value / 10)), count);
    return encodeIntoCompressedBase64(micro as never);
  }

  /**
   * The reverse of `encode`, for merging results. `known` restores the exact figures that a histogram can't hold.
   * Throws when the text is no such histogram.
   */
  static decode(text: string, known: Latency | null): Latencies {
    const micro = decodeFromCompressedBase64(text, 32, false);
    const latencies = new Latencies();
    for (const { value, count } of buckets(micro))
      latencies.#counted.recordValueWithCount(Math.min(value * 10, HIGHEST), count);
    const count = latencies.count;
    if (count > 0) {
      latencies.#min = known?.min ?? micro.minNonZeroValue / 1000;
      latencies.#max = known?.max ?? micro.maxValue / 1000;
      latencies.#sum = (known?.avg ?? micro.mean / 1000) * count;
    }
    return latencies;
  }
}

/** The occupied buckets by their middle value, as a value within the bucket. */
function* buckets(histogram: Histogram): Generator<{ value: number; count: number }> {
  let seen = 0;
  const total = histogram.totalCount;
  if (total === 0) return;
  const raw = histogram as unknown as Inside;
  for (let i = 0; i < raw.countsArrayLength && seen < total; i++) {
    const count = raw.getCountAtIndex(i);
    if (count === 0) continue;
    seen += count;
    yield { value: raw.medianEquivalentValue(raw.valueFromIndex(i)), count };
  }
}
