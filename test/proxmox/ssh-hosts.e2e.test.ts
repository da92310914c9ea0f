/** kind: ssh. Local nodes are made apart from the stack, and must be after it as they were before. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, test } from "node:test";
import { changes, TestStack } from "../../harness/stack.ts";
import { inNode, keyPair, lab, makeHost, makeNetwork } from "./lab.ts";

const NAME = `ssh-hosts-${process.pid}`;
const hosts = ["a", "b", "c", "d"];
const keys = keyPair();
let stack: TestStack | undefined;
after(() => {
  stack?.remove();
  lab(["purge", "--lab", NAME]);
  rmSync(keys.directory, { recursive: true, force: true });
});

/** What a host's owner would notice: packages, files, units, what listens, and the database directory's content. */
const LOOK = `dpkg-query -W -f '\${binary:Package} \${Version} \${db:Status-Status}\\n' | sort
find /etc /opt /srv /usr/local /root /var/lib/mysql /var/lib/meshbench* -xdev -type f ! -name '*.dpkg-*' 2>/dev/null | sort | xargs -d '\\n' sha256sum 2>/dev/null
find /etc /opt /srv /usr/local /var/lib/mysql -xdev -printf '%M %u %g %p %l\\n' 2>/dev/null | sort
systemctl list-unit-files --no-legend | awk '{ print $1, $2 }' | sort
systemctl list-units --no-legend --plain --state=active --type=service,socket | awk '{ print $1 }' | grep -v 'user' | sort
ip -br addr show | sort; ss -Hltnu | awk '{ print $1, $5 }' | sort`;

function difference(before: string, now: string): { gone: string[]; come: string[] } {
  const [old, young] = [before.split("\n"), now.split("\n")];
  return { gone: old.filter((line) => !young.includes(line)), come: young.filter((line) => !old.includes(line)) };
}

test("hosts that were there: used by the stack, and left as they were found", async () => {
  const [north = "", south = ""] = Object.values(
    makeNetwork(
      NAME,
      [
        { name: "north", nat: false },
        { name: "south", nat: false },
      ],
      [{ between: ["north", "south"], rttMs: 5 }],
    ),
  );
  assert.ok(north && south);
  const made = Object.fromEntries(
    hosts.map((name) => [name, makeHost(NAME, name === "c" ? "south" : "north", name, keys.publicKey)]),
  );
  const look = (name: string): string => inNode(NAME, name, LOOK);
  // A first look starts nothing, but settles what a boot leaves behind.
  const before = Object.fromEntries(hosts.map((name) => [name, look(name)]));

  const host = (name: string, given: boolean) => ({
    address: made[name]!.address,
    ...(given ? { hostKey: made[name]!.hostKey } : {}),
  });
  stack = new TestStack("ssh-e2e", {
    sites: [
      {
        name: "north",
        kind: "ssh",
        nodes: 2,
        hosts: [host("a", true), host("b", true), host("d", true)],
        privateKeyFile: keys.privateKeyFile,
        note: "two nodes of a laboratory",
      },
      // Reached through a host of the other site, and its key taken as seen.
      {
        name: "south",
        kind: "ssh",
        nodes: 1,
        hosts: [host("c", false)],
        scanHostKeys: true,
        privateKeyFile: keys.privateKeyFile,
        jump: { host: made["a"]!.address, privateKeyFile: keys.privateKeyFile, hostKey: made["a"]!.hostKey },
      },
    ],
    profile: "smoke",
  });
  const up = await stack.up();
  assert.equal(up.code, 0, up.output.slice(-3000));
  const outputs = await stack.outputs();
  assert.equal(outputs["database"].facts.size, 3);
  assert.equal(outputs["nodes"][0].facts.note, "two nodes of a laboratory");
  assert.equal(outputs["results"].length, 3);

  const again = await stack.up();
  assert.equal(again.code, 0, again.output.slice(-3000));
  assert.deepEqual(
    { ...changes(again.output), unchanged: 0 },
    { created: 0, updated: 0, deleted: 0, replaced: 0, unchanged: 0 },
  );

  const destroy = await stack.run("destroy", "--yes");
  assert.equal(destroy.code, 0, destroy.output.slice(-3000));
  for (const name of hosts)
    assert.deepEqual(difference(before[name]!, look(name)), { gone: [], come: [] }, `host ${name} is as it was`);
});

test("a host whose database is in use is refused, and nothing on it is touched", async () => {
  inNode(NAME, "a", "install -d -o mysql -g mysql /var/lib/mysql/shop");
  const before = inNode(NAME, "a", LOOK);
  const up = await stack!.up();
  assert.notEqual(up.code, 0);
  assert.match(up.output, /a: has a database of its own \(\/var\/lib\/mysql\/shop\/\); this host is left alone/);
  assert.equal((await stack!.run("destroy", "--yes")).code, 0);
  assert.equal(inNode(NAME, "a", LOOK), before);
});
