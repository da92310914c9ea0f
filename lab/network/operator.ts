/** Whether the operator's machine reaches a node by itself: in a cloud, whether the node has a public address. */
import { run } from "../run.ts";
import type { Lab, NodeRecord } from "../schema.ts";
import { names, operatorAddresses } from "./addresses.ts";

/** Rules of the site's router that close a node: one priority each, by the host part of its address. */
const FIRST_PRIORITY = 1000;

/** Closed, the node is reached by its own LAN, and by what it calls; the operator finds no route to it. */
export async function operatorPath(lab: Lab, record: NodeRecord, open: boolean): Promise<void> {
  const router = names.site(record.lab, record.site);
  const priority = FIRST_PRIORITY + record.host;
  const rules = JSON.parse(await run("ip", ["-n", router, "-j", "rule", "show"])) as { priority: number }[];
  if (rules.some((rule) => rule.priority === priority) === !open) return;
  const rule = ["pref", String(priority), "from", operatorAddresses(lab.block).network, "to", record.address];
  await run("ip", ["-n", router, "rule", open ? "del" : "add", ...rule, "unreachable"]);
}
