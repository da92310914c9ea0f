/** The load engine on a primary with two replicas: where sessions go, and how they find a new primary. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { only, runEngine, specFor } from "../../harness/servers/engine.ts";
import { mariadbPackages } from "../../harness/servers/mariadb.ts";
import { MariadbGroup, PLAIN } from "../../harness/servers/mariadb-group.ts";
import type { Endpoint, RunSpec, RunSpecInput, StepResult } from "../../workloads/contract.ts";
import { prepare } from "../../workloads/prepare/index.ts";

const packages = await mariadbPackages();
const DATA = { tables: 1, tableSize: 500, threads: 2 };

describe("roles on MariaDB", { skip: packages.ok ? false : `SKIPPED, no MariaDB: ${packages.reason}` }, () => {
  let group: MariadbGroup;
  before(async () => {
    group = await MariadbGroup.start(3);
    process.env["MESHBENCH_DB_PASSWORD"] = "bench-test";
    await prepare(spec("oltp_write_only", 1, 1), { onProgress() {}, signal: new AbortController().signal });
    await group.allCaughtUp(group.servers[0]!);
  });
  after(() => group?.stop());

  /** The second is called primary first: a run has to find out by itself. */
  function spec(
    workload: string,
    threads: number,
    seconds: number,
    more: {
      target?: Partial<RunSpecInput["target"]>;
      options?: Record<string, number | string>;
      workers?: number;
    } = {},
  ): RunSpec {
    const nodes = group.servers.map(
      ({ port }, i): Endpoint => ({
        name: `n${i + 1}`,
        host: "127.0.0.1",
        port,
        role: i === 1 ? "primary" : "replica",
      }),
    );
    return specFor(
      [],
      [
        {
          workload,
          threads,
          warmupSeconds: 0.3,
          durationSeconds: seconds,
          intervalSeconds: 0.5,
          options: more.options ?? {},
        },
      ],
      {
        data: DATA,
        target: {
          user: PLAIN,
          policy: "read-write-split",
          endpoints: nodes,
          roles: { rule: "read-only", nodes },
          ...more.target,
        },
        spec: more.workers === undefined ? {} : { workers: more.workers },
      },
    );
  }

  /** But for conflicts, which sessions on few rows have among themselves. */
  const errors = ({ errors: { byCode } }: StepResult): Record<string, number> =>
    Object.fromEntries(Object.entries(byCode).filter(([code]) => code !== "1213" && code !== "1205"));

  /** @param moves begin once the window has its first interval */
  async function during(run: RunSpec, moves: () => Promise<void>): Promise<StepResult> {
    let moving: Promise<void> | undefined;
    const ran = await runEngine(run, {
      onLine: (line) => {
        if (/^1\/1 \[/.test(line)) moving ??= moves();
      },
    });
    await moving;
    return only(ran);
  }

  const statements = (): number[] =>
    group.servers.map((server) => server.status("Com_stmt_execute").get("Com_stmt_execute")!);
  async function worked(run: RunSpec): Promise<{ window: StepResult; shares: number[] }> {
    const from = statements();
    const window = only(await runEngine(run));
    assert.ok(window.complete, window.incompleteReason);
    assert.deepEqual(errors(window), {});
    const counts = statements().map((n, i) => n - from[i]!);
    const all = counts.reduce((a, b) => a + b, 0);
    return { window, shares: counts.map((n) => n / all) };
  }

  test("a run that writes goes to the node that takes writes, whatever the spec calls primary", async () => {
    const { window, shares } = await worked(spec("oltp_read_write", 4, 1.5));
    assert.deepEqual(shares, [1, 0, 0]);
    assert.deepEqual(window.primaries, [{ t: 0, nodes: ["n1"] }]);
    assert.ok(window.intervals.length >= 3 && window.intervals.every((i) => String(i.primary) === "n1"));
  });

  for (const [reads, on] of [
    ["primary", [0]],
    ["replicas", [1, 2]],
    ["any", [0, 1, 2]],
  ] as const)
    test(`one that only reads goes to ${reads}`, async () => {
      const { shares } = await worked(spec("oltp_read_only", 6, 1, { target: { reads } }));
      shares.forEach((share, i) =>
        assert.equal(share > 0.05, (on as readonly number[]).includes(i), `n${i + 1}: ${share}`),
      );
    });

  for (const workers of [1, 2])
    test(`the primary is handed over: writes follow within a second, ${workers} event loops`, async (t) => {
      const [from, to] = workers === 1 ? [0, 2] : [2, 0];
      const [old, next] = [group.servers[from]!, group.servers[to]!];
      let promoted = 0;
      const moves = async (): Promise<void> => {
        await group.demote(old);
        await group.caughtUp(next, old);
        await group.promote(next);
        promoted = Date.now();
        for (const server of group.servers) if (server !== next) await group.follow(server, next);
      };
      const window = await during(spec("oltp_update_index", 4, 4, { workers }), moves);
      assert.ok(window.complete, window.incompleteReason);
      const [first, ...later] = window.primaries!;
      assert.deepEqual([first!.nodes, later.at(-1)!.nodes], [[`n${from + 1}`], [`n${to + 1}`]]);
      const found = Date.parse(window.startedAt) + 1000 * later.at(-1)!.t;
      assert.ok(found >= promoted - 50, "nobody is taken for a primary that is none yet");
      // Each session meets the refusal once, and no other node is tried on the way.
      const { "1290": refused, ...other } = errors(window);
      assert.deepEqual(other, {}, JSON.stringify(window.errors));
      assert.ok(refused! >= 4 && refused! <= 12, JSON.stringify(window.errors));
      assert.ok(
        window.intervals.at(-1)!.transactions! > 0 && String(window.intervals.at(-1)!.primary) === `n${to + 1}`,
      );
      t.diagnostic(
        `seen ${found - promoted} ms after the promotion; longest gap ${window.outage?.longestGapSeconds} s`,
      );
    });

  test("the primary is killed, and a replica that is promoted later gets the writes; it comes back as a replica", async (t) => {
    const [old, next] = [group.servers[0]!, group.servers[1]!];
    let promoted = 0;
    const moves = async (): Promise<void> => {
      await old.kill();
      await sleep(1200);
      await group.promote(next);
      promoted = Date.now();
      await group.follow(group.servers[2]!, next);
      await sleep(700);
      old.extra.push("--read-only");
      await old.startAgain();
    };
    const window = await during(spec("oltp_write_only", 4, 5), moves);
    assert.deepEqual(
      window.primaries!.map(({ nodes }) => nodes),
      [["n1"], [], ["n2"]],
    );
    const found = Date.parse(window.startedAt) + 1000 * window.primaries!.at(-1)!.t;
    assert.ok(window.complete && window.intervals.at(-1)!.transactions! > 0, window.incompleteReason);
    // The sessions waited for the promotion: without knowing of one, each would have gone from node to node.
    assert.ok(!("1290" in window.errors.byCode), JSON.stringify(window.errors));
    t.diagnostic(`seen ${found - promoted} ms after the promotion; longest gap ${window.outage?.longestGapSeconds} s`);
  });

  test("a primary that hangs does not keep its sessions once there is another one", async () => {
    const [old, next] = [group.servers[1]!, group.servers[2]!];
    const moves = async (): Promise<void> => {
      old.signal("SIGSTOP");
      await sleep(1500);
      await group.promote(next);
    };
    try {
      const window = await during(spec("oltp_write_only", 4, 5), moves);
      assert.deepEqual(window.primaries!.at(-1)!.nodes, ["n3"]);
      assert.ok(window.intervals.at(-1)!.transactions! > 0, JSON.stringify(window.errors));
      assert.ok(window.errors.byCode["primary-moved"]! >= 1, JSON.stringify(window.errors));
    } finally {
      old.signal("SIGCONT");
    }
  });
});
