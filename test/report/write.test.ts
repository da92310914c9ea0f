/** --out and the store on file systems that do not do what is hoped for. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { syntheticResult } from "../../harness/synthetic.ts";
import { keepOnce, writeOutput } from "../../workloads/keep.ts";

const root = mkdtempSync(join(tmpdir(), "meshbench-write-"));
after(() => rmSync(root, { recursive: true, force: true }));
const inRoot = (...parts: string[]): string => join(root, ...parts);
const cli = join(import.meta.dirname, "../../cli/main.ts");
const meshbench = (args: string[], options: object = {}) =>
  spawnSync(process.execPath, [cli, ...args], { cwd: root, encoding: "utf8", timeout: 60_000, ...options });

const asRoot = { skip: process.getuid?.() === 0 ? false : "needs root for mknod and mount" };

test("a link is written through, to a target that is there or not, and keeps being a link", () => {
  writeFileSync(inRoot("target"), "old");
  chmodSync(inRoot("target"), 0o640);
  symlinkSync("target", inRoot("link"));
  symlinkSync("link", inRoot("link-to-link"));
  writeOutput(inRoot("link-to-link"), "new");
  assert.equal(readFileSync(inRoot("target"), "utf8"), "new");
  assert.equal(statSync(inRoot("target")).mode & 0o777, 0o640, "the file keeps its mode");
  assert.equal(readlinkSync(inRoot("link-to-link")), "link");
  mkdirSync(inRoot("elsewhere"));
  symlinkSync("elsewhere/not-yet", inRoot("dangling"));
  writeOutput(inRoot("dangling"), "made");
  assert.equal(readFileSync(inRoot("elsewhere", "not-yet"), "utf8"), "made");
  assert.ok(lstatSync(inRoot("dangling")).isSymbolicLink());
  linkSync(inRoot("target"), inRoot("second-name"));
  writeOutput(inRoot("second-name"), "both");
  assert.equal(readFileSync(inRoot("target"), "utf8"), "both");
  assert.deepEqual(
    readdirSync(root).filter((f) => f.endsWith(".tmp")),
    [],
  );
});

test("a device stays a device", asRoot, () => {
  execFileSync("mknod", [inRoot("null"), "c", "1", "3"]);
  for (const run of [
    () => writeOutput(inRoot("null"), "gone"),
    () => void meshbench(["load", "merge", inRoot("r.json"), "--out", inRoot("null")]),
    () => void meshbench(["compare", "published:001", "--out", inRoot("null")]),
    () => void meshbench(["report", "published:001", "--out", inRoot("null")]),
  ]) {
    run();
    assert.ok(lstatSync(inRoot("null")).isCharacterDevice());
  }
});

test("--out - and /dev/stdout are standard output, also where that is a file which is added to", () => {
  const result = inRoot("r.json");
  writeFileSync(result, `${JSON.stringify(syntheticResult({ runId: "r", threads: [1], repeats: 1 }))}\n`);
  const page = meshbench(["report", result, "--out", "-"]);
  assert.match(page.stdout, /^<!DOCTYPE html>[\s\S]*<\/html>\n$/);
  assert.match(page.stderr, /1 run/);
  assert.match(
    meshbench(["compare", result, "--json", "--out", "-"]).stdout,
    /^\{\n {2}"kind": "meshbench-comparison"/,
  );
  assert.match(meshbench(["load", "merge", result, "--out", "-"]).stdout, /^\{"schema":1/);
  writeFileSync(inRoot("log"), "before\n");
  const log = openSync(inRoot("log"), "a");
  assert.equal(meshbench(["compare", result, "--out", "/dev/stdout"], { stdio: ["ignore", log, "pipe"] }).status, 0);
  assert.match(readFileSync(inRoot("log"), "utf8"), /^before\n {10}synthetic \(/);
  assert.deepEqual(
    readdirSync(root).filter((f) => f === "-"),
    [],
  );
});

test("a reader that goes away ends the command without a trace", () => {
  const result = inRoot("r.json");
  writeFileSync(result, `${JSON.stringify(syntheticResult({ runId: "r", repeats: 1 }))}\n`);
  const { stderr } = spawnSync(
    "sh",
    ["-c", `"$0" "$1" report "$2" --out - | head -c 1`, process.execPath, cli, result],
    {
      encoding: "utf8",
    },
  );
  assert.doesNotMatch(stderr, /EPIPE|\n\s+at /);
});

test("a full disk: one sentence, the old file stays as it was, nothing half-written is left", asRoot, () => {
  const small = inRoot("small");
  mkdirSync(small);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", small]);
  try {
    writeFileSync(join(small, "out"), "old");
    assert.throws(() => writeOutput(join(small, "out"), "x".repeat(200_000)), {
      message: `${join(small, "out")}: cannot be written: no space is left there`,
    });
    assert.throws(() => keepOnce(join(small, "stack"), "r.json", "x".repeat(200_000)), { code: "ENOSPC" });
    assert.equal(readFileSync(join(small, "out"), "utf8"), "old");
    assert.deepEqual(readdirSync(small, { recursive: true }).sort(), ["out", "stack"]);
    assert.equal(keepOnce(join(small, "stack"), "r.json", "fits"), "kept");
    // Without hard links as well.
    assert.throws(() => keepOnce(small, "s.json", "x".repeat(200_000), noLinks), { code: "ENOSPC" });
    assert.ok(!readdirSync(small).includes("s.json"));
    const written = meshbench(["report", "published:001", "--out", join(small, "page.html")]);
    assert.equal(written.stderr, `${join(small, "page.html")}: cannot be written: no space is left there\n`);
    execFileSync("mount", ["-o", "remount,ro", small]);
    assert.throws(() => writeOutput(join(small, "out"), "y"), /the file system is read-only/);
    assert.match(meshbench(["compare", "published:001", "--out", join(small, "new")]).stderr, /read-only\n$/);
  } finally {
    execFileSync("umount", [small]);
  }
});

const noLinks = (): never => {
  throw Object.assign(new Error("link"), { code: "EPERM" });
};

test("without hard links a result is still written once and whole; a claim that a crash left is taken over", () => {
  const folder = inRoot("no-links");
  assert.equal(keepOnce(folder, "a", "one", noLinks), "kept");
  assert.equal(keepOnce(folder, "a", "one", noLinks), "same");
  assert.equal(keepOnce(folder, "a", "two", noLinks), "taken");
  assert.equal(readFileSync(join(folder, "a"), "utf8"), "one");
  writeFileSync(join(folder, "b"), "");
  assert.equal(keepOnce(folder, "b", "one", noLinks), "taken", "another writer is at it");
  execFileSync("touch", ["-d", "1 minute ago", join(folder, "b")]);
  assert.equal(keepOnce(folder, "b", "one", noLinks), "kept");
  assert.deepEqual(readdirSync(folder).sort(), ["a", "b"]);
});
