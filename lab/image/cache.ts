/** Where what is built once is kept, outside of any checkout. */
import { LabError } from "../run.ts";

/** Base directory of the cache: MESHBENCH_CACHE, else /var/cache/meshbench. */
export function cacheBase(): string {
  const base = process.env.MESHBENCH_CACHE ?? "/var/cache/meshbench";
  // The path becomes part of overlayfs mount options, where these separate.
  if (!/^\/[^:,\\\s]*$/.test(base))
    throw new LabError(
      `MESHBENCH_CACHE: an absolute path without spaces, colons and commas (given: ${JSON.stringify(base)})`,
    );
  return base.replace(/\/+$/, "");
}
