// Proves that CONTRIBUTING.md's "How to add a workload" is true: in a copy of the sources exactly what stands there is
// done; it compiles, two files differ, and the workload runs on real servers.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { bothServers } from "../../harness/servers/servers.ts";

const run = promisify(execFile);
const ROOT = new URL("../..", import.meta.url).pathname;
const guide =
  /## How to add a workload\n([\s\S]*?)\n## /.exec(readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8"))?.[1] ?? "";
const [source = "", lines = ""] = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map((found) => found[1] as string);
const folder = mkdtempSync(join(tmpdir(), "meshbench-add-workload-"));

function doAsWritten(): void {
  for (const name of ["workloads", "package.json", "tsconfig.json"])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "workloads/visits.ts"), source);
  const [imported = "", list = ""] = lines.trim().split("\n\n");
  const registry = join(folder, "workloads/registry.ts");
  const before = readFileSync(registry, "utf8");
  const changed = before
    .replace(/^import type \{ Workload \}/m, `${imported}\nimport type { Workload }`)
    .replace(/^const ALL: .*$/m, list);
  assert.notEqual(changed, before);
  writeFileSync(registry, changed);
}

function touched(): string[] {
  const read = (path: string): string | null => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return null;
    }
  };
  return (
    readdirSync(join(folder, "workloads"), { recursive: true, withFileTypes: true }) as import("node:fs").Dirent[]
  )
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => read(join(ROOT, path)) !== read(join(folder, path)))
    .toSorted();
}

const load = async (args: string[], password = ""): Promise<string> =>
  (
    await run(process.execPath, [join(folder, "workloads/cli.ts"), ...args], {
      env: { ...process.env, MESHBENCH_DB_PASSWORD: password },
      timeout: 120_000,
    })
  ).stdout;

before(doAsWritten);
after(() => rmSync(folder, { recursive: true, force: true }));

test("two files are touched, and the project compiles", async () => {
  assert.deepEqual(touched(), ["workloads/registry.ts", "workloads/visits.ts"]);
  const config = join(folder, "tsconfig.json");
  const { include: _, ...rest } = JSON.parse(readFileSync(config, "utf8")) as Record<string, unknown>;
  writeFileSync(config, JSON.stringify({ ...rest, include: ["workloads"] }));
  const compiled = await run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder]).catch(
    (error: { stdout: string }) => error,
  );
  assert.equal(compiled.stdout, "");
});

test("its options are listed and checked", async () => {
  assert.match(await load(["list-options"]), /visits +Reads of pages[\s\S]*reads=3 +Pages that an event reads/);
  const given = ["run", "--url", "mysql://u@127.0.0.1:1/d", "--workload", "visits"];
  await assert.rejects(
    load([...given, "--option", "reads=0"]),
    /steps\[0\]\.options\.reads: "0"; expected a whole number/,
  );
  await assert.rejects(load([...given, "--option", "range_size=5"]), /--option range_size: unknown option/);
});

for (const kind of await bothServers()) {
  describe(`on ${kind.name}`, { skip: kind.skip }, () => {
    test("tables, run, and the check after it", async () => {
      const server = await kind.start();
      try {
        const { driver, user, database, endpoints } = server.target;
        const url = `${driver}://${user}@127.0.0.1:${endpoints[0]?.port}/${database}`;
        const options = ["--workload", "visits", "--threads", "2", "--table-size", "500", "--option", "events=100"];
        const out = await load(
          ["bench", "--url", url, "--time", "30", "--json", ...options, "--option", "reads=2"],
          server.password,
        );
        const result = JSON.parse(out) as import("../../workloads/contract.ts").RunResult;
        const [window] = result.steps;
        assert.equal(result.complete, true, result.incompleteReason);
        assert.deepEqual([result.prepare?.rows, result.verify?.problems], [500, []]);
        assert.deepEqual(
          [window?.transactions, window?.queries.read, window?.queries.write, window?.checks?.mismatches],
          [100, 200, 100, 0],
        );
      } finally {
        await server.stop();
      }
    });
  });
}
