/** Where this machine gets Debian from: the node image is built from the same place. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { listDirectory } from "../registry.ts";
import { LabError, run } from "../run.ts";

/**
 * sid, the unstable suite, is the only one with MySQL. It moves: what it gave is told by the servers themselves. patroni: 12
 * with Patroni and etcd beside PostgreSQL, which nodes of other engines have no use for.
 */
export type Debian = 12 | 13 | "sid" | "patroni";
export const SUITES: Record<Debian, string> = { 12: "bookworm", 13: "trixie", sid: "sid", patroni: "bookworm" };
/** The machine's own release, whose sources are known. */
const OWN = SUITES[12];

/** One line of apt's classic format per archive, for the Debian archives among the given sources. */
export function debianSources(files: { name: string; text: string }[]): string[] {
  const lines = files.flatMap(({ name, text }) => (name.endsWith(".sources") ? fromStanzas(text) : fromLines(text)));
  return [...new Set(lines)];
}

/** Debian's own archives, on whatever mirror, end in /debian or /debian-security; third parties' do not. */
function isDebian(uri: string, suite: string): boolean {
  return (
    /\/debian(-security)?\/?$/.test(uri) &&
    (suite === OWN || suite.startsWith(`${OWN}-`)) &&
    !suite.includes("backports")
  );
}

function fromLines(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s+\S/.exec(line);
    return match && isDebian(match[1] ?? "", match[2] ?? "") ? [`deb ${match[1]} ${match[2]} main`] : [];
  });
}

function fromStanzas(text: string): string[] {
  const withoutComments = text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n");
  return withoutComments.split(/\n\s*\n/).flatMap((stanza) => {
    const field = (name: string) =>
      (new RegExp(`^${name}:((?:.*)(?:\\n[ \\t].*)*)`, "im").exec(stanza)?.[1] ?? "").split(/\s+/).filter(Boolean);
    if (!field("Types").includes("deb") || field("Enabled")[0]?.toLowerCase() === "no") return [];
    return field("URIs").flatMap((uri) =>
      field("Suites")
        .filter((suite) => isDebian(uri, suite))
        .map((suite) => `deb ${uri} ${suite} main`),
    );
  });
}

/**
 * Sources of that release: the machine's own, and for another release the same archives, which carry all of them.
 * @throws LabError when the machine has no Debian 12 source that can serve the image.
 */
export async function machineSources(debian: Debian = 12): Promise<string[]> {
  const directory = "/etc/apt/sources.list.d";
  const paths = [
    "/etc/apt/sources.list",
    ...(await listDirectory(directory))
      .filter((name) => /\.(list|sources)$/.test(name))
      .map((name) => join(directory, name)),
  ];
  const files = await Promise.all(
    paths.map(async (name) => ({ name, text: await readFile(name, "utf8").catch(() => "") })),
  );
  const sources = debianSources(files);
  if (!sources.some((line) => line.split(" ")[2] === OWN))
    throw new LabError(
      `the machine's apt sources (/etc/apt/sources.list*) name no Debian ${OWN} archive to build the node image from`,
    );
  // The unstable suite has neither updates nor security updates beside it.
  const there = debian === "sid" ? sources.filter((line) => line.split(" ")[2] === OWN) : sources;
  return there.map((line) => line.replace(` ${OWN}`, ` ${SUITES[debian]}`));
}

/** The machine's own proxy and certificate settings for apt, as options of the form `Name "value"`. */
export async function machineAptOptions(): Promise<string[]> {
  const dump = await run("apt-config", ["dump", "Acquire"]);
  return dump
    .split("\n")
    .filter((line) => /^Acquire::https?::[^ ]*(Proxy|CaInfo|CaPath|SslCert|SslKey|Verify)[^ ]* "[^"]+";$/i.test(line))
    .map((line) => line.replace(/;$/, ""));
}
