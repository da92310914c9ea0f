/** The page's style: system fonts, one column that grows to two, both themes, print in light. No outside resource. */

const light = `
  --text: #16222b; --muted: #526370; --grid: #d5dde3; --surface: #ffffff; --page: #f5f7f9; --danger: #b3261e; --accent: #0060a8; --warn-bg: #fff1e0; --good: #00664f;
  --series-0: #0060a8; --series-1: #b04a00; --series-2: #00786a; --series-3: #a3327c; --series-4: #6b5b00; --series-5: #5b3fa8; --series-6: #b3261e; --series-7: #3d4f5c;`;
const dark = `
  --text: #e6edf2; --muted: #a3b3be; --grid: #34414b; --surface: #1a2228; --page: #10161a; --danger: #ff8a80; --accent: #6cb8ff; --warn-bg: #3a2a12; --good: #4fd1b5;
  --series-0: #6cb8ff; --series-1: #ffa95c; --series-2: #4fd1b5; --series-3: #f08fcf; --series-4: #d9c04a; --series-5: #b7a3ff; --series-6: #ff8a80; --series-7: #a9bccb;`;

export const style = `
:root { color-scheme: light dark; ${light} }
@media screen and (prefers-color-scheme: dark) { :root { ${dark} } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main, header, nav { max-width: 1280px; margin: 0 auto; padding: 0 16px; }
header { padding-top: 24px; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 1.3rem; margin: 32px 0 12px; padding-top: 12px; border-top: 2px solid var(--grid); }
h3 { font-size: 1.05rem; margin: 20px 0 8px; }
p, ul { margin: 0 0 12px; }
ul { padding-left: 22px; }
li { margin-bottom: 4px; }
a { color: var(--accent); }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 16px; padding: 0; }
.quiet { color: var(--muted); }
.lead { font-size: 1.05rem; }
.lead li { margin-bottom: 8px; }
.warning { background: var(--warn-bg); border-left: 4px solid var(--danger); padding: 8px 12px; margin: 0 0 12px; }
.bad { color: var(--danger); font-weight: 600; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)); gap: 16px; }
.pair { margin-bottom: 16px; }
.pair > figure, .pair > .card { margin: 0; }
.card h3 { margin-top: 0; }
.printed { display: none; }
tbody th[scope=row] { min-width: 8em; overflow-wrap: break-word; }
.pair > *, figure, .card { min-width: 0; }
figure, .card { background: var(--surface); border: 1px solid var(--grid); border-radius: 8px; margin: 0 0 16px; padding: 12px; }
figcaption { font-weight: 600; }
figcaption small, caption small { font-weight: 400; color: var(--muted); display: block; }
.chart { width: 100%; height: 340px; margin-top: 8px; }
.chart.wide { height: 300px; }
.chart svg { display: block; }
select { font: inherit; color: inherit; background: var(--surface); border: 1px solid var(--muted); border-radius: 4px; padding: 2px 4px; }
label { font-weight: 400; }
.scroll { overflow-x: auto; margin: 0 0 16px; background: var(--surface); border: 1px solid var(--grid); border-radius: 8px; }
.scroll:focus-visible, summary:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 10px 12px; }
th, td { padding: 5px 12px; text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; white-space: nowrap; }
td.wrap { min-width: 14em; }
thead th { border-bottom: 2px solid var(--grid); vertical-align: bottom; }
tbody tr { border-top: 1px solid var(--grid); }
tbody th { font-weight: 600; }
tr.first { border-top-width: 2px; }
details { background: var(--surface); border: 1px solid var(--grid); border-radius: 8px; margin: 0 0 12px; padding: 8px 12px; }
summary { cursor: pointer; font-weight: 600; }
pre { overflow-x: auto; font-size: .8rem; line-height: 1.4; margin: 8px 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.topology { display: block; width: 100%; max-width: 640px; height: auto; margin: 8px auto 0; }
.topology text { fill: var(--text); font-size: 13px; font-family: inherit; }
.topology .small { font-size: 11px; fill: var(--muted); }
.topology .site { fill: none; stroke: var(--muted); stroke-dasharray: 5 4; }
.topology .link { stroke: var(--muted); stroke-width: 2; fill: none; }
.topology .halo { stroke: var(--surface); stroke-width: 5px; paint-order: stroke; stroke-linejoin: round; }
.later { content-visibility: auto; contain-intrinsic-size: auto 600px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--surface); padding: 8px; }
@media (max-width: 600px) {
  body { font-size: 15px; }
  main, header, nav { padding: 0 10px; }
  figure, .card { padding: 8px; }
  th, td { padding: 4px 8px; }
  .chart { height: 300px; }
}
@media print {
  body { background: #fff; font-size: 10pt; }
  nav, .skip, .controls { display: none; }
  .printed { display: inline; }
  main, header { max-width: none; padding: 0; }
  figure, .card, .scroll, details { border-color: #999; break-inside: avoid; }
  .scroll { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { padding: 2px 4px; }
  td.n, th.n { white-space: normal; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .pair { grid-template-columns: 1fr 1fr; }
  .chart { height: 240px; }
  .later { content-visibility: visible; }
  .long { break-inside: auto; }
}
`;
