/** A node of Debian 13: its image is built when it is first asked for, and it boots with that release's MariaDB. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inNode, lab, makeNetwork } from "../proxmox/lab.ts";

const NAME = `debian-13-${process.pid}`;
after(() => lab(["purge", "--lab", NAME]));

test("a node of Debian 13 boots and serves MariaDB 11.8; the one beside it is of Debian 12", () => {
  makeNetwork(NAME, [{ name: "rome", nat: false }]);
  for (const [name, more] of [
    ["new", { debian: 13 }],
    ["old", {}],
  ] as const)
    lab(["node", "create"], { lab: NAME, site: "rome", name, ...more });
  const version = `. /etc/os-release; echo "$VERSION_ID $(systemctl start mariadb && mariadb -N -B -e 'SELECT VERSION()')"`;
  assert.match(inNode(NAME, "new", version), /^13 11\.8\.\d+-MariaDB/);
  assert.match(inNode(NAME, "old", version), /^12 10\.11\.\d+-MariaDB/);
  assert.equal(inNode(NAME, "new", "systemctl --failed --no-legend --plain"), "");
});
