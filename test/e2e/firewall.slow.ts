/** A firewall on a database node at the first `up`: its port is named, whether packets are dropped or refused. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestStack, until } from "../../harness/stack.ts";

const stack = new TestStack("e2e-firewall", {
  sites: [{ name: "east", kind: "local", nodes: 2 }],
  proxy: { kind: "none" },
  profile: "smoke",
});
after(() => stack.remove());

const nodes = (): string[] =>
  (JSON.parse(stack.labCommand("list", "--json")) as { lab: string; nodes: { name: string; running: boolean }[] }[])
    .find(({ lab }) => lab === stack.lab)
    ?.nodes.flatMap(({ name, running }) => (running ? [name] : [])) ?? [];
const rule = (verb: "-I" | "-D", port: number, ...target: string[]): string =>
  stack.onNode("east-1", "iptables", verb, "INPUT", "-i", "wg0", "-p", "tcp", "--dport", String(port), "-j", ...target);

test("Galera's port refused by a firewall: the joiner's sentence names node and port", async () => {
  const running = stack.start(["up", "--yes", "--skip-preview", "--suppress-outputs"]);
  await until("the first node runs", 120, () => nodes().includes("east-1"));
  rule("-I", 4567, "REJECT", "--reject-with", "tcp-reset");
  const { code, output } = await running.ended;
  assert.notEqual(code, 0, output.slice(-3000));
  assert.match(
    output,
    /east-2: (mariadb stopped while it was joining|not in the primary component within \d+ s); TCP port 4567 of 10\.99\.0\.\d+, which answers pings, refuses: no server runs there, or a firewall rejects it/,
  );
  rule("-D", 4567, "REJECT", "--reject-with", "tcp-reset");
});
