/** Sets of MySQL's global transaction identifiers. Pure. */

/** By source (its UUID, with a tag where there is one): closed intervals in order, none next to another. */
export type Gtids = ReadonlyMap<string, readonly (readonly [number, number])[]>;

/** "uuid:1-5:7,uuid:tag:1-3"; parts of one source may come several times. */
export function parseGtids(text: string): Gtids {
  const found = new Map<string, [number, number][]>();
  for (const part of text.replace(/\s/g, "").split(",").filter(Boolean)) {
    const [uuid = "", ...rest] = part.split(":");
    let source = uuid;
    for (const piece of rest) {
      const range = /^(\d+)(?:-(\d+))?$/.exec(piece);
      if (range === null) source = `${uuid}:${piece}`;
      else found.set(source, [...(found.get(source) ?? []), [Number(range[1]), Number(range[2] ?? range[1])]]);
    }
  }
  return new Map([...found].map(([source, intervals]) => [source, merged(intervals)]));
}

function merged(intervals: [number, number][]): [number, number][] {
  const all: [number, number][] = [];
  for (const [from, to] of intervals.toSorted((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

/** Whether the first set has all that is in the second. */
export const holds = (larger: Gtids, smaller: Gtids): boolean =>
  [...smaller].every(([source, intervals]) =>
    intervals.every(([from, to]) => (larger.get(source) ?? []).some(([a, b]) => a <= from && to <= b)),
  );

export const countGtids = (gtids: Gtids): number =>
  [...gtids.values()].flat().reduce((sum, [from, to]) => sum + to - from + 1, 0);
