/** What a server reads from its option file is what was configured: asked of MariaDB's own parser. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { optionValue } from "../../../infra/databases/galera-conf.ts";

const parser = "my_print_defaults";
const there = spawnSync(parser, ["--version"]).status === 0;

test("plain values stand as they are, others in quotes", () => {
  assert.equal(optionValue("1G"), "1G");
  assert.equal(optionValue("ON"), "ON");
  assert.equal(optionValue("a # b"), '"a # b"');
  assert.equal(optionValue("C:\\new"), '"C:\\\\new"');
  assert.equal(optionValue('say "x"'), '"say \\"x\\""');
});

test("MariaDB's parser gives back every value: comments, backslashes, quotes, spaces at the ends", {
  skip: there ? false : `${parser} (mariadb-client-core) is not on this machine`,
}, (t) => {
  const dir = mkdtempSync(join(tmpdir(), "meshbench-option-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const tricky = [
    "x#y",
    "x # y",
    "C:\\new\\table",
    "it's",
    'a"b',
    "'quoted'",
    '"quoted"',
    "^[a]\\d+",
    " lead",
    "trail ",
    "a;b",
    "[x]",
    "!include",
  ];
  const sampled = fc.sample(fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...`ab1 #\\"';=[]!-`) }), {
    numRuns: 200,
    seed: 1,
  });
  const values = [...tricky, ...sampled];
  const file = join(dir, "my.cnf");
  writeFileSync(file, `[mysqld]\n${values.map((v, i) => `v${i} = ${optionValue(v)}`).join("\n")}\n`);
  const { stdout } = spawnSync(parser, [`--defaults-file=${file}`, "mysqld"], { encoding: "utf8" });
  assert.deepEqual(
    stdout.split("\n").slice(0, -1),
    values.map((v, i) => `--v${i}=${v}`),
  );
});
