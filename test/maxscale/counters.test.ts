/** The program that answers with the routing counters, run for real beside a stand-in for REST. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { COUNTERS_PROGRAM } from "../../infra/proxies/maxscale-scripts.ts";

const dir = mkdtempSync(join(tmpdir(), "meshbench-counters-"));
after(() => rmSync(dir, { recursive: true, force: true }));

/** As MaxScale 24.02 prints it, shortened: the counters, and names that only look like them. */
const REST = JSON.stringify(
  {
    data: {
      id: "splitter",
      attributes: {
        connections: 3,
        router_diagnostics: {
          queries: 120,
          replayed_transactions: 0,
          ro_transactions: 7,
          route_all: 5,
          route_master: 80,
          route_slave: 35,
          rw_transactions: 12,
          trx_max_size_exceeded: 0,
          server_query_statistics: [
            {
              id: "east-1",
              total: 90,
              read: 10,
              write: 80,
              avg_sess_duration: "2.5s",
              avg_sess_active_pct: 12.5,
              avg_selects_per_session: 3,
            },
            {
              id: "west-1",
              total: 30,
              read: 30,
              write: 0,
              avg_sess_duration: "2.5s",
              avg_sess_active_pct: 12.5,
              avg_selects_per_session: 3,
            },
          ],
        },
        total: 7,
      },
    },
  },
  null,
  4,
);

function ask(rest: string | undefined, input: string, ...args: string[]): { status: number | null; stdout: string } {
  writeFileSync(join(dir, "answer"), rest ?? "");
  writeFileSync(join(dir, "curl"), `#!/bin/bash\n${rest === undefined ? "exit 7" : `cat ${dir}/answer`}\n`, {
    mode: 0o755,
  });
  return spawnSync("bash", ["-c", COUNTERS_PROGRAM, "proxy-counters", ...args], {
    input,
    encoding: "utf8",
    env: { ...process.env, PATH: `${dir}:${process.env["PATH"]}` },
  });
}
const ROUTED = {
  queries: 120,
  replayed_transactions: 0,
  ro_transactions: 7,
  route_all: 5,
  route_master: 80,
  route_slave: 35,
  rw_transactions: 12,
};
const COUNTERS = {
  ...ROUTED,
  "east-1.total": 90,
  "east-1.read": 10,
  "east-1.write": 80,
  "west-1.total": 30,
  "west-1.read": 30,
  "west-1.write": 0,
};

test("a request is answered with a flat object of the counters", () => {
  const { stdout } = ask(REST, "GET / HTTP/1.1\r\nHost: 10.99.0.14:4009\r\nAccept: */*\r\n\r\n");
  const [head, body] = stdout.split("\r\n\r\n") as [string, string];
  assert.match(head, /^HTTP\/1\.0 200 OK\r\n/);
  assert.equal(Number(/Content-Length: (\d+)/.exec(head)![1]), body.length);
  assert.deepEqual(JSON.parse(body), COUNTERS);
});

test("on the node itself the object stands alone", () => {
  const { stdout, status } = ask(REST, "", "--plain");
  assert.equal(status, 0);
  assert.deepEqual(JSON.parse(stdout), COUNTERS);
});

test("before the first session there are no servers to count by", () => {
  const { stdout } = ask(
    JSON.stringify(
      {
        data: { attributes: { router_diagnostics: { ...ROUTED, server_query_statistics: [] }, other: [{ total: 3 }] } },
      },
      null,
      4,
    ),
    "",
    "--plain",
  );
  assert.deepEqual(JSON.parse(stdout), ROUTED);
});

test("a proxy that does not answer is no zero", () => {
  assert.match(ask(undefined, "GET / HTTP/1.0\r\n\r\n").stdout, /^HTTP\/1\.0 503 /);
  const plain = ask(undefined, "", "--plain");
  assert.notEqual(plain.status, 0);
  assert.equal(plain.stdout, "");
});
