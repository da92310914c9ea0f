import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { link, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Worker } from "node:worker_threads";
import { syntheticResult } from "../../harness/synthetic.ts";
import { ReportError } from "../../report/errors.ts";
import { resolveSubjects } from "../../report/resolve.ts";
import { listResults, readResult, saveResult, upgraded } from "../../report/store.ts";

let root: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), "meshbench-store-"));
});
after(() => rm(root, { recursive: true, force: true }));

const small = (runId: string, seed = 1) =>
  syntheticResult({ runId, seed, threads: [1], workloads: ["oltp_read_only"], repeats: 1, histograms: false });

test("a result comes back as it was saved, and no temporary file stays", async () => {
  const path = await saveResult(root, "one", small("r1"));
  assert.deepEqual(await readResult(path), small("r1"));
  assert.deepEqual(await readdir(join(root, "one")), ["r1.json"]);
});

test("a run id is written once: the same result again is no error, another one is refused and harms nothing", async () => {
  const path = await saveResult(root, "once", small("r1"));
  const before = await readFile(path, "utf8");
  await saveResult(root, "once", small("r1"));
  await assert.rejects(
    saveResult(root, "once", small("r1", 2)),
    (e: Error) => e instanceof ReportError && /already has this run id/.test(e.message),
  );
  assert.equal(await readFile(path, "utf8"), before);
});

test("of many writers of one run id exactly one wins, and its file is whole", async () => {
  const gate = new Int32Array(new SharedArrayBuffer(4)),
    writers = 8;
  const source = `
    const { parentPort, workerData: { gate, writers, keep, folder, text } } = require("node:worker_threads");
    import(keep).then(({ keepOnce }) => {
      Atomics.add(gate, 0, 1);
      while (Atomics.load(gate, 0) < writers) Atomics.wait(gate, 0, Atomics.load(gate, 0), 5);
      parentPort.postMessage(keepOnce(folder, "same.json", text));
    });`;
  const outcomes = await Promise.all(
    Array.from(
      { length: writers },
      (_, i) =>
        new Promise<string>((resolve, reject) => {
          const text = `${JSON.stringify(small("same", i + 1))}\n`;
          new Worker(source, {
            eval: true,
            workerData: {
              gate,
              writers,
              keep: new URL("../../workloads/keep.ts", import.meta.url).href,
              folder: join(root, "race"),
              text,
            },
          })
            .once("message", resolve)
            .once("error", reject);
        }),
    ),
  );
  assert.deepEqual(outcomes.toSorted(), ["kept", ...Array(writers - 1).fill("taken")]);
  assert.deepEqual(await readdir(join(root, "race")), ["same.json"]);
  assert.deepEqual(await readResult(join(root, "race", "same.json")), small("same", outcomes.indexOf("kept") + 1));
});

test("writers of different runs do not disturb each other", async () => {
  await Promise.all(Array.from({ length: 12 }, (_, i) => saveResult(root, "many", small(`r${i}`, i))));
  const { results, skipped } = await listResults(root, "many");
  assert.equal(results.length, 12);
  assert.deepEqual(skipped, []);
});

test("corrupt files are named with their reason and skipped", async () => {
  const good = await saveResult(root, "mixed", small("good"));
  const text = (await readFile(good, "utf8")).replace('"startedAt":"', '"startedAt":"9');
  const bad: Record<string, [string, RegExp]> = {
    half: [text.slice(0, text.length / 2), /not JSON/],
    nan: [text.replace(/"tps":[0-9.]+/, '"tps":NaN'), /not JSON/],
    null: [text.replace(/"tps":[0-9.]+/, '"tps":null'), /tps: null; expected/],
    huge: [text.replace(/"tps":[0-9.]+/, '"tps":1e999'), /tps/],
    other: ['{"kind":"something"}', /not a meshbench result/],
    newer: [text.replace('"schema":1', '"schema":99'), /newer meshbench/],
    empty: ["", /not JSON/],
  };
  for (const [name, [content]] of Object.entries(bad)) await writeFile(join(root, "mixed", `${name}.json`), content);
  // By their heads the broken ones are newer: each is tried, named and passed over.
  const { subjects, skipped } = await resolveSubjects(["mixed"], { results: root });
  assert.deepEqual(
    subjects.map((s) => s.result?.runId),
    ["good"],
  );
  assert.equal(skipped.length, Object.keys(bad).length);
  for (const [name, [, reason]] of Object.entries(bad)) {
    const entry = skipped.find((s) => s.path.endsWith(`${name}.json`));
    assert.ok(entry, `${name} is not named`);
    assert.match(entry.reason, reason);
    assert.ok(entry.reason.includes(entry.path) && !entry.reason.includes("\n"));
  }
});

test("a document of an old schema climbs version by version; a missing step is said", () => {
  const steps = {
    1: (d: Record<string, unknown>) => ({ ...d, seconds: (d["ms"] as number) / 1000, ms: undefined }),
    2: (d: Record<string, unknown>) => ({ ...d, minutes: (d["seconds"] as number) / 60 }),
  };
  assert.deepEqual(upgraded({ schema: 1, ms: 120_000 }, 3, steps), {
    schema: 3,
    ms: undefined,
    seconds: 120,
    minutes: 2,
  });
  assert.deepEqual(upgraded({ schema: 3, minutes: 2 }, 3, steps), { schema: 3, minutes: 2 });
  assert.throws(() => upgraded({ schema: 1 }, 3, { 2: steps[2] }), /schema 1 can no longer be read/);
  assert.throws(() => upgraded({ schema: 4 }, 3, steps), /newer meshbench/);
  assert.throws(() => upgraded({ schema: "1" }, 3, steps), /schema: "1"/);
});

test("names that leave the store are refused", async () => {
  await assert.rejects(saveResult(root, "../up", small("r")), /stack: "/);
  await assert.rejects(saveResult(root, "s", { ...small("r"), runId: "../../r" }), /runId: "/);
});

test("a byte order mark and CRLF at the end do not make a result unreadable", async () => {
  const path = await saveResult(root, "mark", small("r1"));
  const text = await readFile(path, "utf8");
  await writeFile(path, `\uFEFF${text.trimEnd()}\r\n`);
  assert.deepEqual(await readResult(path), small("r1"));
  const { results, skipped } = await listResults(root, "mark");
  assert.deepEqual([results.map((r) => r.runId), skipped], [["r1"], []]);
});

test("a stack of a thousand results, and a comparison of a hundred, fit into a small heap", async () => {
  const whole = syntheticResult({ runId: "r0000", seconds: 180, threads: [1, 16], repeats: 5, histograms: true });
  const text = await readFile(await saveResult(root, "thousand", whole), "utf8");
  assert.ok(text.length > 1e6, String(text.length));
  for (let i = 1; i < 100; i++) {
    const name = `r${String(i).padStart(4, "0")}`;
    await writeFile(join(root, "thousand", `${name}.json`), text.replaceAll("r0000", name));
  }
  for (let i = 100; i < 1000; i++)
    await link(join(root, "thousand", "r0000.json"), join(root, "thousand", `s${i}.json`));
  const host = join(import.meta.dirname, "host.ts");
  const compare = (...subjects: string[]) =>
    spawnSync(process.execPath, ["--max-old-space-size=96", host, "compare", ...subjects, "--csv", "--results", root], {
      encoding: "utf8",
      maxBuffer: 64e6,
    });
  const newest = compare("thousand");
  assert.equal(newest.status, 0, newest.stderr.slice(-500));
  const files = (await readdir(join(root, "thousand")))
    .filter((f) => f.startsWith("r"))
    .map((f) => join(root, "thousand", f));
  const all = compare(...files);
  assert.equal(all.status, 0, all.stderr.slice(-500));
  assert.equal(all.stdout.trim().split("\r\n").length, 1 + 100 * 6);
});
