/** Which glibc the programs of an archive need, and which one Debian's releases have. */
import { createReadStream } from "node:fs";
import { createZstdDecompress } from "node:zlib";
import type { Config } from "../config/schema.ts";
import type { DebianRelease } from "../config/sites/common.ts";
import { planNodes } from "../topology.ts";

/** The 2.x of each release (packages.debian.org, libc6). Programs of an older one run on a newer one, not the reverse. */
const GLIBC: Record<DebianRelease, number> = { 12: 36, 13: 41 };

/** A name of a version that a program asks the dynamic linker for; it ends where its string ends. */
const VERSION = /GLIBC_2\.(\d{1,3})\0/g;
const LONGEST = 16;

/** The x of the newest GLIBC_2.x that anything in the archive names; undefined where nothing does, or it is no zstd. */
export async function glibcOfTree(path: string): Promise<number | undefined> {
  let newest = -1,
    rest = "";
  try {
    for await (const chunk of createReadStream(path).pipe(createZstdDecompress())) {
      const text = rest + (chunk as Buffer).toString("latin1");
      for (const [, minor] of text.matchAll(VERSION)) newest = Math.max(newest, Number(minor));
      rest = text.slice(-LONGEST);
    }
  } catch {
    // The node says so in its own words when it unpacks it.
    return undefined;
  }
  return newest < 0 ? undefined : newest;
}

/** The oldest release on nodes with the proxy; undefined where they are hosts that are there already. */
export function proxyRelease(config: Config): DebianRelease | undefined {
  const releases = planNodes(config)
    .filter(({ roles }) => roles.includes("proxy"))
    .map(({ site }) => config.sites.find(({ name }) => name === site)!)
    .flatMap((site) => ("debian" in site ? (site.debian ?? []) : []));
  return releases.toSorted((a, b) => a - b)[0];
}

/** "built for a newer Debian", or undefined. */
export function glibcProblem(needed: number | undefined, release: DebianRelease | undefined): string | undefined {
  if (needed === undefined || release === undefined || needed <= GLIBC[release]) return undefined;
  return `needs glibc 2.${needed}; expected one built for Debian ${release}, which has 2.${GLIBC[release]}`;
}
