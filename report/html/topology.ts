/** The picture of a topology: sites as boxes, nodes in them, links between sites with their round-trip time. */

import { rttOf } from "../compare/floor.ts";
import { number } from "../format.ts";
import type { Subject } from "../model.ts";
import type { Markup } from "./escape.ts";
import { html, raw } from "./escape.ts";

const NODE_WIDTH = 150;
const NODE_HEIGHT = 56;
const GAP = 14;
const SITE_GAP = 110;

const clip = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  name: string;
}

/** Null when the subject records no topology. */
export function topologyPicture(subject: Subject, index: number): Markup | null {
  const topology = subject.context?.topology;
  if (!topology || topology.sites.length === 0) return null;
  const columns = topology.sites.length > 3 ? 2 : topology.sites.length;
  const sites = topology.sites.map((site) => ({
    ...site,
    members: topology.nodes.filter((n) => n.site === site.name),
  }));
  const most = Math.max(1, ...sites.map((s) => s.members.length));
  const siteHeight = 46 + most * (NODE_HEIGHT + GAP);
  const siteWidth = NODE_WIDTH + 2 * GAP;
  const boxes: Box[] = sites.map((s, i) => ({
    x: 10 + (i % columns) * (siteWidth + SITE_GAP),
    y: 10 + Math.floor(i / columns) * (siteHeight + 90),
    width: siteWidth,
    height: siteHeight,
    name: s.name,
  }));
  const width = 20 + columns * siteWidth + (columns - 1) * SITE_GAP;
  const height = 20 + Math.ceil(sites.length / columns) * siteHeight + (Math.ceil(sites.length / columns) - 1) * 90;
  const rtts = siteRtts(subject);
  const words = rtts.map((r) => `${r.a} to ${r.b}: ${number(r.ms)} ms`).join("; ");
  const links = rtts.map((r) => link(boxes.find((b) => b.name === r.a)!, boxes.find((b) => b.name === r.b)!, r.ms));
  const proxy = subject.context?.proxy;
  return html`<svg class="topology" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="topology-${index}-title topology-${index}-desc" style="max-width:${Math.min(width, 720)}px">
<title id="topology-${index}-title">Topology of ${subject.label}</title>
<desc id="topology-${index}-desc">${sites.map((s) => `${s.name} (${s.kind}): ${s.members.map((m) => `${m.name} (${m.role})`).join(", ")}`).join("; ")}. Round-trip times between sites: ${words || "not recorded"}.</desc>
${links}
${sites.map((site, i) => {
  const box = boxes[i]!;
  return html`<g><rect class="site" x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="10"/>
<text x="${box.x + GAP}" y="${box.y + 24}"><tspan font-weight="600">${clip(site.name, 14)}</tspan> <tspan class="small">${clip(site.kind, 10)}</tspan></text>
${site.members.map((member, j) => nodeMark(member.name, member.role.split("+"), box.x + GAP, box.y + 38 + j * (NODE_HEIGHT + GAP), proxy?.node === member.name ? proxy.kind : null))}</g>`;
})}</svg>`;
}

const colours: Record<string, number> = { database: 0, proxy: 2, driver: 1 };

function nodeMark(name: string, roles: string[], x: number, y: number, proxy: string | null): Markup {
  const role = ["database", "proxy", "driver"].find((r) => roles.includes(r)) ?? roles[0]!;
  const colour = `var(--series-${colours[role] ?? 7})`;
  const below = [...roles.filter((r) => !(r === "proxy" && proxy)), ...(proxy ? [proxy] : [])].join(" + ");
  const shape =
    role === "database"
      ? `<path d="M${x} ${y + 7}a${NODE_WIDTH / 2} 7 0 0 1 ${NODE_WIDTH} 0v${NODE_HEIGHT - 14}a${NODE_WIDTH / 2} 7 0 0 1 -${NODE_WIDTH} 0z" fill="var(--surface)" stroke="${colour}" stroke-width="2"/><path d="M${x} ${y + 7}a${NODE_WIDTH / 2} 7 0 0 0 ${NODE_WIDTH} 0" fill="none" stroke="${colour}" stroke-width="2"/>`
      : `<rect x="${x}" y="${y}" width="${NODE_WIDTH}" height="${NODE_HEIGHT}" rx="${role === "proxy" ? 20 : 4}" fill="var(--surface)" stroke="${colour}" stroke-width="2"/>`;
  return html`${raw(shape)}<text x="${x + NODE_WIDTH / 2}" y="${y + 32}" text-anchor="middle">${clip(name, 20)}</text><text class="small" x="${x + NODE_WIDTH / 2}" y="${y + 46}" text-anchor="middle">${clip(below, 26)}</text>`;
}

function link(a: Box, b: Box, ms: number | null): Markup {
  const [ax, ay, bx, by] = [a.x + a.width / 2, a.y + a.height / 2, b.x + b.width / 2, b.y + b.height / 2];
  // From edge to edge: along the row where they stand side by side, else from the bottom to the top.
  const sideways = Math.abs(ay - by) < 1;
  const far = sideways && Math.abs(ax - bx) > a.width + SITE_GAP + 1;
  const [x1, y1, x2, y2] = sideways
    ? ax < bx
      ? [a.x + a.width, ay, b.x, by]
      : [a.x, ay, b.x + b.width, by]
    : ay < by
      ? [ax, a.y + a.height, bx, b.y]
      : [ax, a.y, bx, b.y + b.height];
  const [cx, cy] = far ? [(x1! + x2!) / 2, a.y + 6] : [(x1! + x2!) / 2, (y1! + y2!) / 2];
  const path = far
    ? `M${x1} ${a.y + 18}C${x1! + 60} ${a.y - 4} ${x2! - 60} ${a.y - 4} ${x2} ${a.y + 18}`
    : `M${x1} ${y1}L${x2} ${y2}`;
  return html`<path class="link" d="${path}"/><text class="halo" x="${cx}" y="${cy - 8}" text-anchor="middle">${ms === null ? "RTT ?" : `${number(ms)} ms`}</text>`;
}

/** RTT between sites: the measured mean over their nodes, else what the link is configured to. */
export function siteRtts(subject: Subject): { a: string; b: string; ms: number | null; measured: boolean }[] {
  const topology = subject.context?.topology;
  if (!topology) return [];
  const rtt = rttOf(subject);
  const names = topology.sites.map((s) => s.name);
  return names.flatMap((a, i) =>
    names.slice(i + 1).map((b) => {
      const pairs = topology.nodes
        .filter((n) => n.site === a)
        .flatMap((n) => topology.nodes.filter((m) => m.site === b).map((m) => rtt.between(n.name, m.name)))
        .filter((v) => v !== null);
      if (pairs.length > 0) return { a, b, ms: pairs.reduce((s, v) => s + v, 0) / pairs.length, measured: true };
      const configured = topology.links.find((l) => l.between.includes(a) && l.between.includes(b))?.rttMs;
      return { a, b, ms: configured ?? null, measured: false };
    }),
  );
}
