/** The project's own local nodes, played as other people's machines. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkout, nodeBinary } from "../../tools/paths.ts";

export function lab(args: string[], input?: unknown): string {
  return execFileSync(nodeBinary(), ["lab/cli.ts", ...args], {
    cwd: checkout,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "pipe"],
    ...(input === undefined ? {} : { input: JSON.stringify(input) }),
  });
}

/** @returns the first three numbers of the addresses of each site's network. */
export function makeNetwork(
  name: string,
  sites: { name: string; nat: boolean }[],
  links: { between: string[]; rttMs: number }[] = [],
): Record<string, string> {
  const made = JSON.parse(lab(["network", "apply"], { lab: name, sites, links })) as {
    sites: Record<string, { subnet: string }>;
  };
  return Object.fromEntries(
    Object.entries(made.sites).map(([site, { subnet }]) => [site, subnet.replace(/\.0\/24$/, "")]),
  );
}

export function makeHost(
  labName: string,
  site: string,
  name: string,
  publicKey: string,
): { address: string; hostKey: string } {
  return JSON.parse(lab(["node", "create"], { lab: labName, site, name, authorizedKeys: [publicKey] })) as {
    address: string;
    hostKey: string;
  };
}

/** Runs in a node without SSH; throws on a non-zero exit code. */
export const inNode = (labName: string, name: string, command: string): string =>
  lab(["node", "exec", "--lab", labName, "--name", name, "--", "bash", "-c", command]);

/** A key pair of the operator's own, in a folder that the caller removes. */
export function keyPair(): { directory: string; privateKeyFile: string; publicKey: string } {
  const directory = mkdtempSync(join(tmpdir(), "meshbench-key-"));
  const privateKeyFile = join(directory, "id");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "operator", "-f", privateKeyFile]);
  return { directory, privateKeyFile, publicKey: readFileSync(`${privateKeyFile}.pub`, "utf8").trim() };
}
