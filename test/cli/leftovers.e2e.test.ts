/** Real labs on this machine: the one whose time is over is listed and goes, the other one stays. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Ran, ran } from "../../cli/doctor/machine.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";
import { lab, whyNot } from "../lab/harness.ts";

const skip = await whyNot();
const mark = process.pid.toString(36);
const over = `leftover-${mark}`,
  wanted = `wanted-${mark}`;

const hour = 3_600_000;
const at = (offset: number): string => new Date(Date.now() + offset).toISOString();

/** Names are always given: other labs of this machine are none of this test's. */
const leftovers = (...options: string[]): Promise<Ran> =>
  ran(nodeBinary(), [join(checkout, "cli/main.ts"), "leftovers", over, wanted, ...options]);
const names = ({ stdout }: Ran): string[] =>
  (JSON.parse(stdout) as { leftovers: { name: string }[] }).leftovers.map((f) => f.name).sort();
const there = async (): Promise<string[]> =>
  (await lab<{ lab: string }[]>(["list", "--json"]))
    .map((l) => l.lab)
    .filter((name) => name === over || name === wanted)
    .sort();

const purge = async (): Promise<void> => {
  for (const name of await there()) await lab(["purge", "--lab", name]);
};

before(async () => {
  if (skip) return;
  await lab(["image", "build"]);
  for (const [name, expires] of [
    [over, at(-hour)],
    [wanted, at(hour)],
  ] as const) {
    await lab(["network", "apply"], { lab: name, sites: [{ name: "here" }] });
    await lab(["node", "create"], {
      lab: name,
      site: "here",
      name: "n1",
      labels: { project: "meshbench", stack: "gone-stack", owner: "test", expires },
    });
  }
});
after(async () => {
  if (!skip) await purge();
});

test("only the lab that is over is listed; --all lists both", { skip }, async () => {
  assert.deepEqual(names(await leftovers("--json")), [over]);
  assert.deepEqual(names(await leftovers("--json", "--all")), [over, wanted]);
  const { code, stdout } = await leftovers();
  assert.equal(code, 0);
  assert.match(stdout, new RegExp(`lab +│ ${over} +│ 1 node +│ gone-stack \\* +│ test +│ 1 h ago`));
  assert.deepEqual(await there(), [over, wanted], "a list removes nothing");
});

test("--destroy without a terminal takes what is over and keeps what is wanted", { skip }, async () => {
  const { code, stdout, stderr } = await leftovers("--destroy", "--all", "--json");
  assert.equal(code, 1, "something that was to go stays");
  const { outcomes } = JSON.parse(stdout) as { outcomes: { name: string; removed: boolean; why?: string }[] };
  assert.deepEqual(outcomes.map((o) => [o.name, o.removed]).sort(), [
    [over, true],
    [wanted, false],
  ]);
  assert.match(stderr, /no terminal to ask on; --yes removes/);
  assert.match(stderr, new RegExp(`local ${over}: gone`));
  assert.deepEqual(await there(), [wanted]);
  const left = await lab<Record<string, unknown[]>>(["leftovers", "--lab", over]);
  assert.ok(
    Object.values(left).every((list) => list.length === 0),
    JSON.stringify(left),
  );
});

test("then there is nothing left over; --all --yes takes the other one too", { skip }, async () => {
  const nothing = await leftovers("--destroy");
  assert.deepEqual([nothing.code, names(await leftovers("--json"))], [0, []]);
  assert.match(nothing.stdout, /^no leftovers; .*not expired \(--all lists them\)\n$/);
  assert.equal((await leftovers("--destroy", "--all", "--yes")).code, 0);
  assert.deepEqual(await there(), []);
});
