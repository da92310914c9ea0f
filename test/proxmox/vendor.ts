/** Where the vendor's own Proxmox plugin is, if it is on this machine. */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { onPath } from "../../tools/paths.ts";
import { standInFolder } from "../../tools/standins.ts";

const PLUGIN = "pulumi-resource-proxmoxve";

/** The folder that holds it: $MESHBENCH_VENDOR_BIN, else one on PATH; never one with a stand-in. */
export function vendorFolder(environment: NodeJS.ProcessEnv = process.env): { folder: string } | { reason: string } {
  const chosen = environment["MESHBENCH_VENDOR_BIN"];
  if (chosen !== undefined)
    return existsSync(join(chosen, PLUGIN))
      ? { folder: chosen }
      : { reason: `MESHBENCH_VENDOR_BIN is ${chosen}, which holds no ${PLUGIN}` };
  const path = (environment["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.startsWith(standInFolder()))
    .join(delimiter);
  const found = onPath(PLUGIN, path);
  return found === undefined
    ? { reason: `the vendor's ${PLUGIN} is not on PATH, nor named by MESHBENCH_VENDOR_BIN` }
    : { folder: join(found, "..") };
}
