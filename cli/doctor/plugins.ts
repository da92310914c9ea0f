/** The plugins of the clouds that a stack's sites are in. */
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Found } from "../../tools/engine/engine.ts";
import { checkout, onPath, pulumiHome } from "../../tools/paths.ts";
import { commandsOf } from "../sites/index.ts";
import { type Item, missing, ok, skipped } from "./item.ts";

export function pluginItems(
  kinds: Set<string>,
  engine: Found | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Item[] {
  return commandsOf(kinds).flatMap(({ provider }) =>
    provider === null ? [] : [pluginItem(provider, engine, environment)],
  );
}

function pluginItem(
  { plugin, package: name }: { plugin: string; package: string },
  engine: Found | undefined,
  environment: NodeJS.ProcessEnv,
): Item {
  const program = `pulumi-resource-${plugin}`,
    check = `${plugin} plugin`;
  const { version, pulumi } = JSON.parse(
    readFileSync(join(checkout, "node_modules", name, "package.json"), "utf8"),
  ) as { version: string; pulumi?: { server?: string } };
  const home = pulumiHome(environment);
  const kept = join(home, "plugins", `resource-${plugin}-v${version}`, program);
  const found = onPath(program, environment["PATH"]) ?? (existsSync(kept) ? kept : undefined);
  if (found)
    return ok(
      check,
      isStandIn(found) ? `${found}, a stand-in of this project: nothing is made in a real cloud` : found,
    );
  if (!engine) return skipped(check, `${version} is not here; whether the engine can fetch it shows when there is one`);
  return engine.source === "built"
    ? missing(
        check,
        `${program} ${version} is not here, and an engine that was built here fetches none: run \`npm run pulumi -- plugin install resource ${plugin} ${version}${pulumi?.server ? ` --server ${pulumi.server}` : ""}\` where its vendor can be reached, or put it on PATH`,
      )
    : skipped(
        check,
        `${version} is not here; the engine fetches it during the first \`up\`, if its vendor can be reached from here`,
      );
}

/** The stand-ins are started by a small script that names their place. */
function isStandIn(file: string): boolean {
  const head = Buffer.alloc(1000);
  const descriptor = openSync(file, "r");
  try {
    return head.toString("latin1", 0, readSync(descriptor, head)).includes("/standins/");
  } finally {
    closeSync(descriptor);
  }
}
