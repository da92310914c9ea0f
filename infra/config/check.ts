/**
 * Raw configuration -> checked configuration. Everything that can be known to be wrong is said here, before anything is
 * created.
 */

import type { z } from "zod";
import { workloadProblems } from "../../workloads/spec-check.ts";
import { protocolOf } from "../databases/engine.ts";
import { engineOf } from "../databases/index.ts";
import { meshSlots } from "../mesh/plan.ts";
import { checkProxy } from "../proxies/kinds.ts";
import { kindOf } from "../sites/kinds/index.ts";
import { DATABASE_HOSTS, driverSite } from "../topology.ts";
import { databaseNodes, maxThreads } from "./counts.ts";
import { describe } from "./describe.ts";
import { whoseKey, withEngine } from "./engines.ts";
import { type Problem, sentenceOf } from "./problem.ts";
import { namedProfile } from "./profiles.ts";
import { type Config, configSchema, DEFAULT_LINKS, DEFAULT_SITES } from "./schema.ts";
import { awsSettings, withRegion } from "./sites/aws-settings.ts";
import { checkPlaces } from "./sites/places.ts";

/** `missing`: those of the problems that are values yet to be given. */
export type Checked = { config: Config; warnings: string[] } | { problems: string[]; missing: string[] };

const refused = (problems: Problem[]): Checked => ({
  problems: problems.map(sentenceOf),
  missing: problems.filter((problem) => typeof problem !== "string").map(sentenceOf),
});

/** `raw` has the keys of `meshbench:` without the prefix, values already parsed from their JSON text; `rawAws` those of `aws:`. */
export function checkConfig(raw: Record<string, unknown>, rawAws: Record<string, unknown> = {}): Checked {
  const aws = awsSettings.safeParse(rawAws);
  if (!aws.success) return refused(aws.error.issues.flatMap((issue) => describe(issue, awsSettings, rawAws, "aws")));
  const input: Record<string, unknown> = { ...raw, sites: withRegion(raw["sites"], aws.data) };
  if (input["sites"] === undefined) {
    input["sites"] = DEFAULT_SITES;
    input["links"] ??= DEFAULT_LINKS;
  }
  const { database, advice } = withEngine(input["database"]);
  input["database"] = database;
  const parsed = configSchema.safeParse(input);
  if (!parsed.success)
    return refused(
      parsed.error.issues.flatMap((issue) => ofOtherEngine(issue, database) ?? describe(issue, configSchema, input)),
    );
  const problems: Problem[] = [];
  const warnings: string[] = [...advice];
  const given = parsed.data;

  let profile = given.profile;
  if (typeof profile === "string") {
    try {
      profile = namedProfile(profile);
    } catch (e) {
      return refused([(e as Error).message]);
    }
  }
  const whole: Config = {
    ...given,
    sites: given.sites.map((site) => kindOf(site).complete(site, given)),
    profile,
    profileName: typeof given.profile === "string" ? given.profile : "own",
    aws: aws.data,
  };
  const config = engineOf(whole.database).complete?.(whole.database, whole) ?? whole;

  checkSites(config, problems);
  // Addresses are worked out from the sites' slots: without slots nothing else can be.
  try {
    meshSlots(config.sites);
  } catch (e) {
    return refused([...problems, (e as Error).message]);
  }
  problems.push(...checkPlaces(config));
  checkDatabase(config, problems, warnings);
  const proxy = checkProxy(config);
  problems.push(...proxy.problems);
  warnings.push(...proxy.warnings);
  checkDrivers(config, problems, warnings);
  problems.push(...checkWorkloads(config));
  return problems.length > 0 ? refused(problems) : { config, warnings };
}

/** Names and options of every step, as the driver would otherwise refuse them when the nodes are up. */
function checkWorkloads({ profile, seed, database }: Config): string[] {
  const steps = profile.steps.map((step) => ({ ...step, threads: [step.threads].flat()[0]! }));
  const problems = workloadProblems({ data: profile.data, steps, seed, target: protocolOf(engineOf(database)) });
  return problems.map((problem) => `meshbench:profile.${problem}`);
}

/** A key under `database` that another engine or replication has: whose it is. */
function ofOtherEngine(issue: z.core.$ZodIssue, database: unknown): string[] | undefined {
  if (issue.code !== "unrecognized_keys" || issue.path.join() !== "database") return undefined;
  const { engine, replication } = database as { engine: string; replication: string };
  const found = issue.keys.map((key) => ({ key, owners: whoseKey(key) }));
  if (!found.every(({ owners }) => owners.length > 0)) return undefined;
  return found.map(
    ({ key, owners }) =>
      `meshbench:database.${key}: given for ${engine} with replication ${replication}; expected with ${owners.join(", ")} only`,
  );
}

function checkSites(config: Config, problems: Problem[]): void {
  const names = config.sites.map((s) => s.name);
  for (const [i, name] of names.entries())
    if (names.indexOf(name) !== i)
      problems.push(
        `meshbench:sites[${i}].name: "${name}", as in sites[${names.indexOf(name)}].name; expected a name of its own`,
      );
  const seen = new Set<string>();
  for (const [i, link] of config.links.entries()) {
    for (const end of link.between) {
      const site = config.sites.find((s) => s.name === end);
      if (!site) problems.push(`meshbench:links[${i}].between: "${end}"; expected one of ${names.join(", ")}`);
      else if (!kindOf(site).emulatesLinks)
        problems.push(
          `meshbench:links[${i}].between: "${end}" of kind ${site.kind}; expected a local site, since only links between those are emulated`,
        );
    }
    if (link.between[0] === link.between[1])
      problems.push(`meshbench:links[${i}].between: "${link.between[0]}" twice; expected two sites`);
    const key = [...link.between].sort().join(" ");
    if (seen.has(key))
      problems.push(
        `meshbench:links[${i}].between: ${key.replace(" ", " and ")} a second time; expected one link between two sites`,
      );
    seen.add(key);
  }
  const nodes = databaseNodes(config);
  if (nodes === 0) problems.push("meshbench:sites[*].nodes: 0 in all; expected at least one node for the database");
  for (const [key, site] of [
    ["proxy.site", config.proxy.site],
    ["driver.site", config.driver.site],
  ] as const)
    if (site !== undefined && !names.includes(site))
      problems.push(`meshbench:${key}: "${site}"; expected one of ${names.join(", ")}`);
}

function checkDatabase(config: Config, problems: Problem[], warnings: string[]): void {
  const engine = engineOf(config.database);
  const nodes = databaseNodes(config);
  if (engine.quorum && nodes > 0 && nodes % 2 === 0)
    warnings.push(
      `${nodes} database nodes: an even number can split into two halves of which neither has a quorum; take an odd number`,
    );
  if (engine.quorum && config.sites.filter((s) => s.nodes > 0).length === 2)
    warnings.push("two sites: losing the one with more nodes loses the quorum; a third site would keep it");
  const checked = engine.check(config.database, config);
  problems.push(...checked.problems);
  warnings.push(...checked.warnings);
  const { reads } = config.driver;
  if (reads !== undefined && engine.roles === null)
    problems.push(
      `meshbench:driver.reads: "${reads}" with ${engine.title}; expected no such key, since its nodes are no primary with replicas`,
    );
  checkEndpoints(config, problems);
  const threads = maxThreads(config);
  if (threads > 10_000) problems.push(`meshbench:profile: ${threads} threads; expected at most 10000`);
}

function checkEndpoints(config: Config, problems: Problem[]): void {
  if (config.driver.endpoints !== "own-site") return;
  const site = driverSite(config);
  if (config.proxy.kind !== "none")
    problems.push(
      `meshbench:driver.endpoints: "own-site" with meshbench:proxy.kind "${config.proxy.kind}"; expected proxy.kind "none", since a proxy chooses the nodes itself`,
    );
  else if (config.sites.some(({ name, nodes }) => name === site && nodes === 0))
    problems.push(
      `meshbench:driver.endpoints: "own-site" with the driver at "${site}", which has no database node; expected meshbench:driver.site to be one that has`,
    );
}

/** The further drivers have the mesh addresses below the proxy's, which a site's last database nodes would have. */
function checkDrivers(config: Config, problems: Problem[], warnings: string[]): void {
  const { driver, proxy } = config;
  if (driver.nodes === 1) return;
  if (driver.placement === "proxy") {
    problems.push(
      `meshbench:driver.nodes: ${driver.nodes}; expected 1 with meshbench:driver.placement "proxy", which is one node, or placement "own"`,
    );
    return;
  }
  const site = config.sites.find((s) => s.name === driverSite(config));
  if (site && site.nodes + driver.nodes - 1 > DATABASE_HOSTS)
    problems.push(
      `meshbench:driver.nodes: ${driver.nodes}; expected at most ${DATABASE_HOSTS + 1 - site.nodes} on site "${site.name}" with ${site.nodes} database nodes (a site has ${DATABASE_HOSTS} mesh addresses for database nodes and further drivers), or another meshbench:driver.site`,
    );
  const named = config.sites.findIndex((s) => s.name === "driver" && s.nodes > 1);
  if (named !== -1)
    problems.push(
      `meshbench:sites[${named}].name: "driver"; expected another name, since its database nodes would be called driver-2 and so on, as are the further nodes of meshbench:driver.nodes ${driver.nodes}`,
    );
  if (proxy.kind !== "none" && proxy.placement === "driver")
    warnings.push(
      `meshbench:proxy.placement is "driver": the proxy stands on the first of ${driver.nodes} drivers, which shares its processors with it, and the others reach it over the network; with "own" all drivers are alike`,
    );
}
