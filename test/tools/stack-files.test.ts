import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parse } from "yaml";
import { asYaml, mergeSettings, type Settings } from "../../tools/start/stack-files.ts";

const config = fc.dictionary(
  fc.constantFrom("a", "b", "c", "d"),
  fc.oneof(fc.integer(), fc.constantFrom("x", "y"), fc.constant([1])),
  { noNullPrototype: true },
);
const settings = fc
  .record({ config, encryptionsalt: fc.constantFrom("one", "two") }, { requiredKeys: [], noNullPrototype: true })
  // An empty `config` says the same as none.
  .map(
    (value): Settings =>
      value.config && Object.keys(value.config).length > 0
        ? value
        : { ...(value.encryptionsalt && { encryptionsalt: value.encryptionsalt }) },
  );

test("without changes here, the copy is the committed file", () => {
  fc.assert(
    fc.property(settings, settings, (committed, before) => {
      assert.deepEqual(mergeSettings(committed, before, before), committed);
    }),
  );
});

test("without changes in the committed file, the copy stays as it is", () => {
  fc.assert(
    fc.property(settings, settings, (committed, copy) => {
      assert.deepEqual(mergeSettings(committed, committed, copy), copy);
    }),
  );
});

test("a key changed here wins; every other key follows the committed file", () => {
  fc.assert(
    fc.property(settings, settings, settings, (committed, before, copy) => {
      const of = (s: Settings) => (s["config"] ?? {}) as Settings;
      const merged = of(mergeSettings(committed, before, copy));
      for (const key of ["a", "b", "c", "d"]) {
        const changed = JSON.stringify(of(before)[key]) !== JSON.stringify(of(copy)[key]);
        assert.deepEqual(merged[key], (changed ? of(copy) : of(committed))[key], key);
      }
    }),
  );
});

test("a key removed here stays removed", () => {
  const committed = { config: { keep: 1, drop: 2 } };
  assert.deepEqual(mergeSettings(committed, committed, { config: { keep: 1 } }), { config: { keep: 1 } });
});

test("a copy is read alike with the rules of YAML 1.1 and 1.2, and keeps an ESC environment beside the configuration", () => {
  const committed = {
    environment: ["bench/tokens"],
    config: { a: "2026-01-02", b: "1_000", c: "0b11", d: "0644", e: "on", f: "22:30", g: 8, h: true },
  };
  const text = asYaml(mergeSettings(committed, {}, {}));
  for (const version of ["1.1", "1.2"] as const) assert.deepEqual(parse(text, { version }), committed, version);
});
