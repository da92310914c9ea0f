/** The relay that emulates the links between sites (wan.c): building, configuring, starting, reading. */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { cacheBase } from "../image/cache.ts";
import { withLock } from "../lock.ts";
import { findProcesses } from "../processes.ts";
import { paths, writeAtomic } from "../registry.ts";
import { LabError, poll, run, startDetached } from "../run.ts";
import type { Lab } from "../schema.ts";
import { names, siteAddresses } from "./addresses.ts";

export const TUN = "wan0";

const files = (lab: string) => ({
  config: join(paths.lab(lab), "wan.conf"),
  stats: join(paths.lab(lab), "wan.stats"),
  lock: join(paths.lab(lab), "wan.lock"),
  log: join(paths.lab(lab), "wan.log"),
});

/** The relay's configuration; its grammar is at the head of wan.c. */
export function renderConfig(lab: Lab): string {
  const index = new Map(lab.sites.map((site) => [site.name, site.index]));
  const nets = lab.sites.map((site) => {
    const { subnet, natAddress } = siteAddresses(lab.block, site.index);
    return `net ${site.nat ? `${natAddress}/32` : subnet} ${site.index}`;
  });
  const links = lab.links.map((link) => {
    const [a, b] = link.between.map((site) => index.get(site));
    const delay = Math.round(link.rttMs * 500);
    const jitter = Math.round(link.jitterMs * 1000);
    const loss = Math.round(link.lossPct * 10_000);
    const rate = Math.round((link.rateMbit ?? 0) * 1000);
    return `link ${a} ${b} ${delay} ${jitter} ${loss} ${rate} ${link.cut ? 0 : 1}`;
  });
  return `${[...nets, ...links].join("\n")}\n`;
}

/** Compiles the relay once per version of its source. @returns its path. */
async function relayBinary(): Promise<string> {
  const source = join(import.meta.dirname, "wan.c");
  const hash = createHash("sha256")
    .update(await readFile(source))
    .digest("hex")
    .slice(0, 12);
  const directory = join(cacheBase(), "wan");
  const binary = join(directory, hash);
  const exists = () =>
    stat(binary).then(
      () => true,
      () => false,
    );
  if (await exists()) return binary;
  return withLock(`compile ${hash}`, 60_000, async () => {
    if (await exists()) return binary;
    await mkdir(directory, { recursive: true });
    await run("gcc", ["-O2", "-std=gnu17", "-o", `${binary}.new`, source]);
    await rename(`${binary}.new`, binary);
    return binary;
  });
}

/** The relay, also while it is being started. */
export const relayPids = async (lab: string) =>
  (await findProcesses()).filter((p) => p.args.includes(files(lab).config) && p.args.includes(TUN)).map((p) => p.pid);

/** Writes the relay's configuration and starts it, or has it read the new one. */
export async function applyRelay(lab: Lab): Promise<void> {
  const file = files(lab.lab);
  await writeAtomic(file.config, renderConfig(lab));
  const [running] = await relayPids(lab.lab);
  if (running !== undefined) {
    process.kill(running, "SIGHUP");
    return;
  }
  const binary = await relayBinary();
  const netns = `--net=/run/netns/${names.core(lab.lab)}`;
  startDetached("nsenter", [netns, "--", binary, TUN, file.config, file.stats, file.lock], file.log);
  // Carrier on the TUN device says that a program has attached to it.
  const up = await poll(5_000, 20, async () => {
    const link = await run("ip", ["-n", names.core(lab.lab), "-j", "link", "show", TUN]);
    const flags = (JSON.parse(link) as { flags: string[] }[])[0]?.flags ?? [];
    return flags.includes("LOWER_UP") || undefined;
  });
  if (!up) throw new LabError(`the relay between the sites of lab "${lab.lab}" does not start; see ${file.log}`);
}

/** Whether something emulates the links at the moment. */
export const relayRuns = async (lab: string) => (await relayPids(lab)).length > 0;

export interface LinkCounters {
  from: string;
  to: string;
  packets: number;
  bytes: number;
  /** Dropped by the configured loss; by a full queue; because the link was cut. */
  lost: number;
  overflow: number;
  cut: number;
  /** Packets under way now. */
  held: number;
}

/** What has crossed each link since the relay started, IP packets and their bytes, per direction. */
export async function readCounters(lab: Lab): Promise<LinkCounters[]> {
  const [running] = await relayPids(lab.lab);
  if (running === undefined) throw new LabError(`no relay runs for lab "${lab.lab}"; \`lab network apply\` starts it`);
  const read = () => readFile(files(lab.lab).stats, "utf8").catch(() => "");
  const serial = (text: string) => /^serial (\d+)/.exec(text)?.[1];
  const before = serial(await read());
  process.kill(running, "SIGUSR1");
  const text = await poll(2_000, 5, async () => {
    const now = await read();
    return now && serial(now) !== before ? now : undefined;
  });
  if (text === undefined)
    throw new LabError(`the relay of lab "${lab.lab}" does not answer; see ${files(lab.lab).log}`);
  return parseCounters(text, lab);
}

export function parseCounters(text: string, lab: Pick<Lab, "sites">): LinkCounters[] {
  const siteName = new Map(lab.sites.map((site) => [site.index, site.name]));
  return text.split("\n").flatMap((line) => {
    if (!line.startsWith("link ")) return [];
    const [a, b, packets = 0, bytes = 0, lost = 0, overflow = 0, cut = 0, held = 0] = line
      .split(" ")
      .slice(1)
      .map(Number);
    const from = siteName.get(a ?? -1);
    const to = siteName.get(b ?? -1);
    return from && to ? [{ from, to, packets, bytes, lost, overflow, cut, held }] : [];
  });
}

/** Ends the relay. */
export async function stopRelay(lab: string): Promise<void> {
  for (const pid of await relayPids(lab)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself meanwhile.
    }
  }
  await poll(5_000, 10, async () => ((await relayPids(lab)).length === 0 ? true : undefined));
}
