// Proves that CONTRIBUTING.md's "How to add a workload" is true of what runs: the workload that is added to a copy of the
// sources as it is written there is listed, its options are checked, and it runs on real servers. That it compiles, and
// how many files it takes: test/contributing/add.test.ts.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { bothServers } from "../../harness/servers/servers.ts";
import { apply, copyOfSources, guideOf } from "../contributing/guide.ts";

const run = promisify(execFile);
const folder = copyOfSources();
after(() => rmSync(folder, { recursive: true, force: true }));
for (const block of guideOf("a workload").blocks) apply(folder, block);

const load = async (args: string[], password = ""): Promise<string> =>
  (
    await run(process.execPath, [join(folder, "workloads/cli.ts"), ...args], {
      env: { ...process.env, MESHBENCH_DB_PASSWORD: password },
      timeout: 120_000,
    })
  ).stdout;

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
