/** Ports between nodes that hear each other: what is dropped or refused on the way is named, what does not run yet is not. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { test } from "node:test";
import { Hurt, type LookedAt } from "../../../infra/health/looked-at.ts";
import { listensScript, routesOf, routesScript, tryRoutes } from "../../../infra/health/ports.ts";
import { type NodeState, parseProbe } from "../../../infra/health/probe.ts";
import type { Role } from "../../../infra/topology.ts";
import { configOf } from "../config/config.ts";

const routes = routesOf(configOf({}));

/** `answers`: per node, what its scripts print. `silent`: peers that no packet reaches. */
function world(answers: Record<string, (script: string) => string>, silent: string[] = []) {
  const roles: Record<string, Role[]> = {
    driver: ["driver"],
    proxy: ["proxy"],
    "east-1": ["database"],
    "east-2": ["database"],
  };
  const ran: string[] = [];
  const nodes = Object.entries(roles).map(
    ([name, own], i): LookedAt => ({
      name,
      roles: own,
      meshAddress: `10.99.0.${i + 1}`,
      host: "192.0.2.1",
      advice: "",
      run(script) {
        ran.push(name);
        return Promise.resolve({ code: 0, stdout: answers[name]?.(script) ?? "", stderr: "" });
      },
    }),
  );
  const states = new Map<string, NodeState>(
    nodes.map((node) => [
      node.name,
      parseProbe(
        [
          "mesh up 51820 1420",
          ...nodes
            .filter((n) => n !== node)
            .map((n) => `peer ${n.name} ${silent.includes(n.name) ? "silent" : "answers"}`),
        ].join("\n"),
      ),
    ]),
  );
  return { nodes, states, ran };
}
const hurt = (message: RegExp) => (error: Error) => {
  assert.ok(error instanceof Hurt, error.stack);
  assert.match(error.message, message);
  return true;
};

test("which node speaks to which port, by engine and proxy", () => {
  const shown = (raw: object): string[] =>
    routesOf(configOf(raw as Record<string, unknown>)).map(({ from, to, port }) => `${from} ${to} ${port}`);
  assert.deepEqual(shown({}), [
    "driver database 3306",
    "proxy database 3306",
    "driver proxy 4006",
    "proxy database 9200",
  ]);
  assert.deepEqual(shown({ proxy: { kind: "none" } }), ["driver database 3306"]);
  assert.deepEqual(shown({ proxy: { kind: "maxscale" } }), [
    "driver database 3306",
    "proxy database 3306",
    "driver proxy 4006",
  ]);
  const one = { sites: [{ name: "east", kind: "local", nodes: 1 }], links: [] };
  assert.deepEqual(shown({ ...one, database: { engine: "postgresql" }, proxy: { kind: "none" } }), [
    "driver database 5432",
  ]);
});

test("a dropped port is named with both nodes, and how many more", async () => {
  const { nodes, states } = world({
    driver: () => "port east-1 3306 silent\nport east-2 3306 silent\nport proxy 4006 open\n",
    proxy: () => "port east-1 3306 open\n",
  });
  await assert.rejects(
    tryRoutes(nodes, states, routes),
    hurt(
      /^mesh: east-1 answers pings of driver, but its TCP port 3306, the database's port, does not answer \(and 1 more such ways\); expected it open from the driver's node to the database's \(is there a firewall\?\)$/,
    ),
  );
});

test("a refusal counts only where a program listens: before the first bring-up nobody does", async () => {
  const answers = (listening: string) => ({
    proxy: () => "port east-1 3306 open\nport east-1 9200 refused\nport east-2 9200 open\n",
    "east-1": () => listening,
  });
  const first = world(answers(""));
  await tryRoutes(first.nodes, first.states, routes);
  const { nodes, states } = world(answers("9200\n"));
  await assert.rejects(
    tryRoutes(nodes, states, routes),
    hurt(
      /^mesh: east-1 answers pings of proxy, but its TCP port 9200, the port of its in-service check, refuses it, though a program listens there;/,
    ),
  );
});

test("nodes that do not hear each other, and nodes without routes, are not asked", async () => {
  const { nodes, states, ran } = world({}, ["east-1", "east-2", "proxy"]);
  await tryRoutes(nodes, states, routes);
  assert.deepEqual(ran, []);
});

test("the scripts tell an open port from a closed one on a real machine", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const bash = (script: string): string =>
    spawnSync("bash", ["-euo", "pipefail", "-c", script], { encoding: "utf8" }).stdout;
  const at = (name: string, to: number) => ({ name, meshAddress: "127.0.0.1", port: to });
  assert.deepEqual(
    bash(routesScript([at("a", port), at("b", 1)]))
      .trim()
      .split("\n")
      .sort(),
    [`port a ${port} open`, "port b 1 refused"],
  );
  assert.equal(bash(listensScript([port, 1])).trim(), String(port));
  server.close();
});
