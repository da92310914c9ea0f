/** Changing and reading the links of a running lab. */
import { requireLab, saveLab, withLabLock } from "../registry.ts";
import { LabError } from "../run.ts";
import { type Lab, type Link, linkSettings, parse } from "../schema.ts";
import { applyRelay, type LinkCounters, readCounters } from "./wan.ts";

export interface LinkChange {
  rttMs?: number;
  jitterMs?: number;
  lossPct?: number;
  /** 0 lifts the limit. */
  rateMbit?: number;
  cut?: boolean;
}

const samePair = (link: Link, a: string, b: string) => link.between.includes(a) && link.between.includes(b);

/** The lab with one link changed (added when there was none between the two sites). */
export function changeLink(lab: Lab, between: string, change: LinkChange): Lab {
  const [a = "", b = "", ...rest] = between.split(",").map((site) => site.trim());
  const known = lab.sites.map((site) => site.name);
  if (rest.length || !known.includes(a) || !known.includes(b) || a === b)
    throw new LabError(
      `--between: two sites of the lab, separated by a comma (given: "${between}"; sites are ${known.join(", ")})`,
    );
  const before = lab.links.find((link) => samePair(link, a, b)) ?? {
    between: [a, b],
    rttMs: 0,
    jitterMs: 0,
    lossPct: 0,
    cut: false,
  };
  const { between: ends, cut, ...settings } = { ...before, ...change };
  const { rateMbit, ...others } = settings;
  const checked = parse(linkSettings, rateMbit ? { ...others, rateMbit } : others, "link");
  const changed: Link = { between: ends as [string, string], ...checked, cut };
  return { ...lab, links: [...lab.links.filter((link) => !samePair(link, a, b)), changed] };
}

export const setLink = (name: string, between: string, change: LinkChange): Promise<{ lab: string; links: Link[] }> =>
  withLabLock(name, async () => {
    const lab = changeLink(await requireLab(name), between, change);
    await saveLab(lab);
    await applyRelay(lab);
    return { lab: name, links: lab.links };
  });

export async function showLinks(name: string): Promise<{ lab: string; links: Link[]; counters: LinkCounters[] }> {
  const lab = await requireLab(name);
  return { lab: name, links: lab.links, counters: await readCounters(lab) };
}
