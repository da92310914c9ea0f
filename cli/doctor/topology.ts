/** What one stack still needs. */
import { checkConfig } from "../../infra/config/check.ts";
import { ambiguousStackFile } from "../../infra/config/plain-scalars.ts";
import type { Config } from "../../infra/config/schema.ts";
import type { Check } from "../../infra/preflight/check.ts";
import { archiveProblem } from "../../infra/proxies/archive.ts";
import { proxyRelease } from "../../infra/proxies/glibc.ts";
import { PROXIES } from "../../infra/proxies/kinds.ts";
import { kindsOf } from "../../infra/sites/kinds/index.ts";
import { type NodePlan, planNodes } from "../../infra/topology.ts";
import type { Found } from "../../tools/engine/engine.ts";
import { checkout } from "../../tools/paths.ts";
import { openProject } from "../../tools/project.ts";
import { readStacks } from "../leftovers/stacks.ts";
import { commandsOf } from "../sites/index.ts";
import { type Item, missing, ok, skipped } from "./item.ts";
import { pluginItems } from "./plugins.ts";
import { readSettings, type StackSettings } from "./settings.ts";

export interface Checked {
  stack: string;
  local: boolean;
  checks: Item[];
}

export async function checkStack(stack: string, engine: Found | undefined, root = checkout): Promise<Checked> {
  let settings: StackSettings;
  try {
    settings = await readSettings(root, stack);
  } catch (error) {
    return {
      stack,
      local: false,
      checks: [
        missing("configuration", `Pulumi.${stack}.yaml cannot be read: ${(error as Error).message.split("\n")[0]}`),
      ],
    };
  }
  const kinds = siteKinds(settings.raw);
  const items = [
    ...ambiguousStackFile(stack, root).map((problem) => missing("configuration", problem)),
    ...configItems(settings),
  ];
  const checked = checkConfig(settings.raw, settings.aws);
  const config = "config" in checked ? checked.config : undefined;
  const plugins = pluginItems(kinds, engine);
  const rest = config
    ? await Promise.all([archiveItems(config, root), cloudItems(config, settings, stack, root)])
    : [cloudsUnknown(kinds)];
  return {
    stack,
    local: commandsOf(kinds).some(({ needsLocalNodes }) => needsLocalNodes),
    checks: [...items, ...plugins, ...rest.flat()],
  };
}

function siteKinds(raw: Record<string, unknown>): Set<string> {
  const sites = Array.isArray(raw["sites"]) ? (raw["sites"] as unknown[]) : [];
  return new Set(sites.map((site) => String((site as { kind?: unknown } | null)?.kind)));
}

/** Keys of this project stand without their namespace. */
const named = (key: string): string => (key.includes(":") ? key : `meshbench:${key}`);

/** One line per value to be set and per mistake; or one that all is well. Pure. */
export function configItems({ raw, aws, sealed }: StackSettings): Item[] {
  const checked = checkConfig(raw, aws);
  const secrets = sealed.map((key) =>
    skipped("configuration", `${named(key)} is set and encrypted, and cannot be read here`),
  );
  if ("problems" in checked)
    return [
      ...checked.problems.map((problem) =>
        missing(checked.missing.includes(problem) ? "to be set" : "configuration", problem),
      ),
      ...secrets,
    ];
  const { config, warnings } = checked;
  const sites = config.sites.map((site) => `${site.name}: ${site.nodes} ${site.kind}`).join(", ");
  return [
    ok(
      "configuration",
      [`${sites}; ${config.database.engine}, ${config.proxy.kind}, profile ${config.profileName}`, ...warnings].join(
        "; note: ",
      ),
    ),
    ...secrets,
  ];
}

async function archiveItems(config: Config, root: string): Promise<Item[]> {
  const { proxy } = config;
  const { title, ownKeys } = PROXIES[proxy.kind];
  if (!ownKeys.includes("archive")) return [];
  if (!proxy.archive)
    return [
      ok(
        title,
        `${proxy.version} from the vendor's repository, which its node must reach; meshbench:proxy.archive brings one along`,
      ),
    ];
  const problem = await archiveProblem(proxy.archive, root, proxyRelease(config));
  return [problem === undefined ? ok(title, `${proxy.archive.path}, sha256 as configured`) : missing(title, problem)];
}

const cloudsUnknown = (kinds: Set<string>): Item[] =>
  commandsOf(kinds).some(({ inCloud }) => inCloud)
    ? [skipped("cloud access", "asked once the configuration is complete")]
    : [];

async function cloudItems(config: Config, { sealed }: StackSettings, stack: string, root: string): Promise<Item[]> {
  if (kindsOf(config).every(({ preflight }) => preflight === null)) return [];
  if (sealed.length > 0)
    return [skipped("cloud access", `not asked, for ${sealed.map(named).join(", ")} cannot be read here`)];
  return (await asked(config, planNodes(config), stack, root)).map(cloudItem);
}

async function asked(config: Config, plans: NodePlan[], stack: string, root: string): Promise<Check[]> {
  // Loaded only here: Pulumi's SDK and the clouds' clients would slow what needs neither.
  const { runPreflight } = await import("../../infra/preflight/index.ts");
  const standing = (await readStacks(openProject(root))).stacks.find(({ name }) => name === stack);
  return runPreflight(config, plans, {
    id: standing?.id,
    name: standing?.firstName ?? stack,
  });
}

export const cloudItem = ({ check, ok: fine, skipped: notAsked, message }: Check): Item =>
  notAsked ? skipped(check, message) : fine ? ok(check, message) : missing(check, message);
