/** The nodes' own systems during the windows, as a table. */
import { hostFigures } from "../compare/hosts.ts";
import { number } from "../format.ts";
import type { Subject } from "../model.ts";
import { windowsOf } from "./charts.ts";
import type { Markup } from "./escape.ts";
import { html } from "./escape.ts";
import { nothing, table } from "./tables.ts";

/** One row per point and node; nothing where nobody sampled the nodes. */
export function hostsTable(subject: Subject): Markup {
  const percent = (v: number | null): string => (v === null ? "-" : v.toFixed(1));
  const rows = subject.points.flatMap((point) =>
    hostFigures(windowsOf(subject, point.key, point.threads), subject.context).map(
      (f) =>
        html`<tr data-host="${f.node}"><td>${point.key}</td><td class="n">${point.threads}</td><th scope="row">${f.node}${f.source === "container" ? html` <span class="quiet">(container)</span>` : nothing}</th>
<td class="n">${percent(f.cpu)}</td><td class="n">${percent(f.cpuMax)}</td><td class="n">${percent(f.machineCpu)}</td><td class="n">${percent(f.steal)}</td><td class="n">${percent(f.iowait)}</td>
<td class="n">${f.memoryAvailableMinMb === null ? "-" : f.memoryAvailableMinMb.toLocaleString("en-US")}</td><td class="n">${number(f.receivedMbit)}</td><td class="n">${number(f.sentMbit)}</td><td class="wrap">${f.gap ?? ""}</td></tr>`,
    ),
  );
  if (rows.length === 0) return nothing;
  return html`<details class="later long beside"><summary>Nodes during the windows, ${subject.label}</summary>${table(
    `Nodes during the windows, ${subject.label}`,
    "Sampled on each node once a second. CPU: of the node, in per cent of all its processors; of a container its own share. The machine's CPU, steal, iowait and memory are those of the machine that a container shares.",
    [
      { text: "workload" },
      { text: "threads", n: true },
      { text: "node" },
      { text: "CPU %", n: true },
      { text: "at most", n: true },
      { text: "machine's CPU %", n: true },
      { text: "steal %", n: true },
      { text: "iowait %", n: true },
      { text: "least memory left, MB", n: true },
      { text: "mesh in, Mbit/s", n: true },
      { text: "mesh out", n: true },
      { text: "" },
    ],
    rows,
  )}</details>`;
}
