/** Versions of the client libraries, for the result. In the bundle there is no package.json to look at: the bundler puts them in. */
import { createRequire } from "node:module";

declare const MESHBENCH_VERSIONS: Record<string, string> | undefined;

/** "unknown" where neither the bundler nor an installed package says. */
export function version(name: string): string {
  if (typeof MESHBENCH_VERSIONS !== "undefined") return MESHBENCH_VERSIONS[name] ?? "unknown";
  try {
    return (createRequire(import.meta.url)(`${name}/package.json`) as { version: string }).version;
  } catch {
    return "unknown";
  }
}
