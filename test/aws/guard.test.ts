/**
 * The step that stands before a database node, as the command provider runs it: what it printed last is in its
 * environment.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { GUARD_SCRIPT } from "../../infra/sites/guard.ts";

const VALUES = {
  NODE: "east-1",
  REPLACED: "replaced image = Debian's\nreplaced zone = us-east-1a",
  RESTARTED: "restarted instanceType = t3.medium",
  GROWN: "",
  MAY_REPLACE: "false",
  MAY_RESTART: "false",
  REPLACE_KEY: "KEY.replaceNodes to true",
  RESTART_KEY: "KEY.rolling to true",
};

function run(
  previous: string | undefined,
  values: Partial<typeof VALUES>,
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync("/bin/bash", ["-euo", "pipefail", "-c", GUARD_SCRIPT], {
    encoding: "utf8",
    env: {
      PATH: process.env["PATH"],
      ...VALUES,
      ...values,
      ...(previous === undefined ? {} : { PULUMI_COMMAND_STDOUT: previous }),
    },
  });
}

const first = run(undefined, {});

test("at the node's creation there is nothing to keep; its values are remembered", () => {
  assert.equal(first.status, 0, first.stderr);
  assert.equal(first.stdout.trim(), `${VALUES.REPLACED}\n${VALUES.RESTARTED}`);
});

test("the same values pass, whatever else the step was changed for", () => {
  assert.equal(run(first.stdout, { MAY_REPLACE: "true" }).stdout, first.stdout);
  assert.equal(run(first.stdout, { REPLACE_KEY: "another key" }).status, 0);
});

test("a value that makes the node anew is refused, with what was and what is asked, until it is confirmed", () => {
  const change = { REPLACED: VALUES.REPLACED.replace("1a", "1b") };
  const refused = run(first.stdout.trim(), change);
  assert.equal(refused.status, 1);
  assert.match(
    refused.stderr,
    /was: zone = us-east-1a\n +asked: zone = us-east-1b\neast-1: this change replaces the database node and destroys its data; set KEY\.replaceNodes to true/,
  );
  assert.equal(refused.stdout, "", "nothing is remembered that did not happen");
  assert.equal(
    run(first.stdout, { ...change, MAY_RESTART: "true" }).status,
    1,
    "leave to restart is no leave to replace",
  );
  assert.equal(run(first.stdout, { ...change, MAY_REPLACE: "true" }).stdout.includes("us-east-1b"), true);
});

test("a value that stops the node is refused until it is done node by node", () => {
  const change = { RESTARTED: "restarted instanceType = t3.large" };
  const refused = run(first.stdout, change);
  assert.equal(refused.status, 1);
  assert.match(
    refused.stderr,
    /asked: instanceType = t3\.large\neast-1: this change stops the database node.*set KEY\.rolling to true/,
  );
  assert.equal(run(first.stdout, { ...change, MAY_RESTART: "true" }).status, 0);
});

test("a value that was not remembered yet is no change, whatever else is", () => {
  const more = { REPLACED: `${VALUES.REPLACED}\nreplaced architecture = x86_64` };
  assert.equal(run(first.stdout, more).status, 0);
  const refused = run(first.stdout, { REPLACED: more.REPLACED.replace("1a", "1b") });
  assert.equal(refused.status, 1);
  assert.doesNotMatch(refused.stderr, /architecture/);
});

test("a disk may grow; a smaller one is refused, also where replacement is confirmed", () => {
  const had = run(undefined, {
    GROWN: "grown disk.sizeGb = 32",
    REPLACE_KEY: "meshbench:sites[0].replaceNodes to true",
  });
  const change = (gb: number): ReturnType<typeof run> =>
    run(had.stdout, {
      GROWN: `grown disk.sizeGb = ${gb}`,
      MAY_REPLACE: "true",
      MAY_RESTART: "true",
      REPLACE_KEY: "meshbench:sites[1].replaceNodes to true",
    });
  assert.equal(change(32).status, 0);
  assert.match(change(100).stdout, /^grown disk\.sizeGb = 100$/m);
  const refused = change(8);
  assert.equal(refused.status, 1);
  assert.match(
    refused.stderr,
    /^meshbench:sites\[1\]\.disk\.sizeGb: 8; expected at least 32, which the disk has: a disk cannot shrink\neast-1: undo the change, or destroy the node first/m,
  );
  assert.equal(run(first.stdout, { GROWN: "grown disk.sizeGb = 8" }).status, 0, "one from before it counted");
});
