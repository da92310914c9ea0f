/**
 * Seeded randomness: xoshiro128** (Blackman & Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47(4),
 * 2021),
 * the 32-bit member of the family of sysbench's xoroshiro128+, because JavaScript has fast 32-bit and no fast 64-bit
 * integers.
 * States come from splitmix64 (Steele, Lea, Flood 2014), as the generators' authors advise.
 */
const MASK = (1n << 64n) - 1n;

/** splitmix64: the generator whose outputs seed the others. */
export function splitmix64(seed: bigint): () => bigint {
  let state = seed & MASK;
  return () => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return z ^ (z >> 31n);
  };
}

export class Random {
  #a = 0;
  #b = 0;
  #c = 0;
  #d = 0;

  /**
   * @param seed the run's seed @param stream what tells this stream from the others of the run (step, repeat,
   * connection)
   */
  constructor(seed: number, ...stream: number[]) {
    let key = splitmix64(BigInt(seed))();
    for (const part of stream) key = splitmix64(key ^ BigInt(part))();
    const next = splitmix64(key);
    const first = next();
    const second = next();
    this.#a = Number(first & 0xffffffffn) | 0;
    this.#b = Number(first >> 32n) | 0;
    this.#c = Number(second & 0xffffffffn) | 0;
    // The all-zero state is the one that never leaves itself; it can't come out of splitmix64 in four words, but costs
    // nothing to exclude.
    this.#d = Number(second >> 32n) | 0 || 1;
  }

  /** 32 random bits as a signed integer. */
  bits(): number {
    const b = this.#b;
    const scrambled = Math.imul(b, 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9);
    const shifted = b << 9;
    const c = this.#c ^ this.#a;
    const d = this.#d ^ b;
    this.#b = b ^ c;
    this.#a ^= d;
    this.#c = c ^ shifted;
    this.#d = (d << 11) | (d >>> 21);
    return result;
  }

  /** Uniform in [0, 1), 53 bits. */
  double(): number {
    const high = this.bits() >>> 5;
    return (high * 67_108_864 + (this.bits() >>> 6)) / 9_007_199_254_740_992;
  }

  /** Uniform integer in [a, b]. */
  uniform(a: number, b: number): number {
    return a + Math.floor(this.double() * (b - a + 1));
  }
}

/** The three ASCII digits of 0..999, flat. */
const TRIPLES = new Uint8Array(3000);
for (let i = 0; i < 1000; i++) {
  TRIPLES[3 * i] = 48 + Math.floor(i / 100);
  TRIPLES[3 * i + 1] = 48 + (Math.floor(i / 10) % 10);
  TRIPLES[3 * i + 2] = 48 + (i % 10);
}

const GROUP = 11;

/**
 * Fills `target` with groups of 11 random digits joined by '-': sysbench's c is ten of them (119 bytes), its pad five
 * (59).
 * Nine digits come from one double (53 bits: the bias per digit is below 1e-6), so a value costs 13 draws and not 110.
 */
export function fillDigitGroups(random: Random, target: Uint8Array): void {
  let stock = 0;
  let left = 0;
  let inGroup = 0;
  let at = 0;
  const end = target.length;
  while (at < end) {
    if (inGroup === GROUP) {
      target[at++] = 45;
      inGroup = 0;
      continue;
    }
    if (left === 0) {
      stock = Math.floor(random.double() * 1e9);
      left = 3;
    }
    const triple = 3 * (stock % 1000);
    stock = Math.floor(stock / 1000);
    left--;
    for (let i = 0; i < 3 && at < end; i++) {
      if (inGroup === GROUP) {
        target[at++] = 45;
        inGroup = 0;
        if (at === end) break;
      }
      target[at++] = TRIPLES[triple + i] as number;
      inGroup++;
    }
  }
}

/**
 * sysbench's rand.unique(): a permutation of 0..2^32-1 (quadratic residues of the prime 2^32-5; Preshing, "How to
 * generate a sequence of unique random integers", 2012). Different indexes give different numbers.
 */
export function uniqueNumber(index: number, offset: number): number {
  const inner = (permute(index >>> 0) + offset) >>> 0;
  return permute((inner ^ 0x5bf03635) >>> 0);
}

const PRIME = 4_294_967_291;

function permute(x: number): number {
  if (x >= PRIME) return x;
  const wide = BigInt(x);
  const residue = Number((wide * wide) % BigInt(PRIME));
  return x <= PRIME / 2 ? residue : PRIME - residue;
}
