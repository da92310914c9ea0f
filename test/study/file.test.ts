import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { beyond, estimateLeg, total } from "../../cli/study/estimate.ts";
import { cellsOf, legsOf, overlay, parseStudy, resolvePiece, StudyError, scaleOf } from "../../cli/study/file.ts";
import { findPublished } from "../../report/published/index.ts";
import { checkout } from "../../tools/paths.ts";

const none = (): Record<string, unknown> => {
  throw new StudyError("no stack file is expected");
};
const minimal = `
name: tiny
config: { profile: smoke }
topologies:
  near: { sites: [{ name: a, kind: local, nodes: 3 }] }
  far: { sites: [{ name: a, kind: local, nodes: 2 }, { name: b, kind: local, nodes: 1 }], links: [{ between: [a, b], rttMs: 20 }] }
databases:
  default: {}
  wide: { extends: default, database: { options: { "gcs.fc_limit": 256 } } }
repeats: 2
`;
const failure = (text: string): string => {
  try {
    cellsOf(parseStudy(text, "s.yaml"), undefined, none);
  } catch (error) {
    assert.ok(error instanceof StudyError, String(error));
    return error.message;
  }
  throw new assert.AssertionError({ message: "no error" });
};

test("the matrix is the product of its axes, named by those that have a choice", () => {
  const cells = cellsOf(parseStudy(minimal, "s.yaml"), undefined, none);
  assert.deepEqual(
    cells.map((c) => c.name),
    ["near-default", "near-wide", "far-default", "far-wide"],
  );
  const { database } = cells[3]!.config;
  assert.ok(database.replication === "galera");
  assert.equal(database.options["gcs.fc_limit"], "256");
  assert.equal(cells[3]!.config.links[0]!.rttMs, 20);
  assert.equal(cells[0]!.config.profileName, "smoke");
});

test("cells are left out by name; a name that is on no axis, or that leaves nothing, is a mistake", () => {
  const without = (except: string): string => `${minimal}except: ${except}\n`;
  const names = (except: string): string[] =>
    cellsOf(parseStudy(without(except), "s.yaml"), undefined, none).map((c) => c.name);
  assert.deepEqual(names("[{ topologies: far, databases: wide }]"), ["near-default", "near-wide", "far-default"]);
  assert.deepEqual(names("[{ databases: wide }]"), ["near-default", "far-default"]);
  assert.equal(
    failure(without("[{ topologies: remote }]")),
    'except[0].topologies: "remote"; expected one of near, far',
  );
  assert.equal(
    failure(without("[{ topologies: near }, { topologies: far }]")),
    "except: every cell; expected at least one to be left",
  );
  assert.match(failure(without("[{}]")), /^s\.yaml: except\.0.*at least one of topologies/);
});

test("orders: given repeat by repeat, ABBA back and forth, random by seed with every leg once", () => {
  const study = parseStudy(minimal, "s.yaml"),
    cells = cellsOf(study, undefined, none);
  const names = (order: "given" | "random" | "abba", seed = 1): string[] =>
    legsOf({ ...study, order, seed }, cells, 2).map((l) => l.cell.name);
  const row = cells.map((c) => c.name);
  assert.deepEqual(names("given"), [...row, ...row]);
  assert.deepEqual(names("abba"), [...row, ...row.toReversed()]);
  assert.deepEqual(names("random"), names("random"));
  assert.notDeepEqual(
    [1, 2, 3].map((s) => names("random", s).join()),
    Array(3).fill(names("given").join()),
  );
  for (const seed of [1, 2, 3]) assert.deepEqual(names("random", seed).slice(0, 4).toSorted(), row.toSorted());
});

test("stacks of one study differ by cell and fit what a stack's name may be", () => {
  const study = parseStudy(minimal, "s.yaml");
  const stacks = new Set(legsOf(study, cellsOf(study, undefined, none), 2).map((l) => l.stack));
  assert.equal(stacks.size, 4);
  for (const stack of stacks) assert.match(stack, /^[a-zA-Z0-9_.-]{1,100}$/);
});

test("overlay: objects merge, lists and values replace, nothing is changed in place", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()), (a, b) => {
      const before = JSON.stringify([a, b]),
        merged = overlay(a, b);
      assert.equal(JSON.stringify([a, b]), before);
      assert.deepEqual(new Set(Object.keys(merged)), new Set([...Object.keys(a), ...Object.keys(b)]));
      assert.deepEqual(overlay(merged, b), merged);
    }),
    { examples: [[{}, JSON.parse('{"__proto__":[]}')]] },
  );
});

test("mistakes end in a sentence that names the key", () => {
  assert.match(
    failure(minimal.replace("default: {}", "default: { extends: wide }")),
    /databases: default extends wide extends default; expected no circle/,
  );
  assert.match(
    failure(minimal.replace("extends: default", "extends: defalt")),
    /wide\.extends: "defalt"; expected one of default, wide/,
  );
  assert.match(failure(minimal.replace("topologies:", "toplogies:")), /toplogies: unknown key|topologies is missing/);
  assert.match(failure(minimal.replace("repeats: 2", "repeats: 0")), /repeats is 0/);
  assert.match(
    failure(minimal.replace("rttMs: 20", "rttMs: fast")),
    /leg far-default: meshbench:links\[0\]\.rttMs: "fast"/,
  );
  assert.match(failure("a: [1"), /is no valid YAML/);
  assert.match(failure("- 1"), /the document/);
  assert.throws(() => scaleOf(parseStudy(minimal, "s.yaml"), "quick"), /--scale: "quick"; expected no such option/);
  assert.throws(
    () =>
      resolvePiece({ a: { stackFile: "gone" } }, "a", "topologies", () => {
        throw new StudyError("stackFile: gone");
      }),
    /stackFile: gone/,
  );
});

test("a study that would exceed its limits says by how much", () => {
  const study = parseStudy(minimal, "s.yaml");
  const legs = legsOf(study, cellsOf(study, undefined, none), 2);
  const estimates = legs.map(estimateLeg),
    sum = total(legs, 4);
  assert.equal(
    sum.seconds,
    estimates.reduce((s, e) => s + e.seconds, 0),
    "legs with local nodes run one at a time, whatever is asked for",
  );
  assert.ok(sum.seconds > 8 * 7, "eight legs with three windows of two seconds and their warm-up");
  assert.equal(sum.money, null, "local nodes have no price, so none is invented");
  assert.equal(
    beyond({ hours: 1000 }, { seconds: 0, money: 0 }, { ...estimates[0]!, seconds: sum.seconds }),
    undefined,
  );
  assert.match(
    beyond({ hours: 0.01 }, { seconds: 0, money: 0 }, { ...estimates[0]!, seconds: sum.seconds })!,
    /time limit of 0.01 h/,
  );
  assert.match(
    beyond({ money: 1 }, { seconds: 0, money: 0.9 }, { seconds: 1, perHour: 1, money: 0.2, currency: "USD" })!,
    /spending limit of 1 USD: 0.90 are spent/,
  );
});

test("the studies that come along can be planned at their quick scale", () => {
  for (const [name, cells] of [
    ["hybrid-galera", 3],
    ["galera-distance", 4],
    ["storage", 2],
    ["tuning", 2],
    ["group-vs-galera", 2],
  ] as const) {
    const study = parseStudy(readFileSync(join(checkout, "studies", `${name}.yaml`), "utf8"), name);
    const planned = cellsOf(study, "quick", none);
    assert.equal(planned.length, cells, name);
    for (const set of Object.values(study.match))
      assert.equal(findPublished(`${study.against}/${set}`).length, 1, `${name}: published set ${set}`);
    for (const cell of planned)
      assert.ok(
        cell.config.sites.every((s) => s.kind === "local"),
        `${name} ${cell.name} needs no cloud`,
      );
  }
});
