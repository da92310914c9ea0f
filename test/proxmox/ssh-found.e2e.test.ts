/** The first step on a host that exists, on a node of its own: whose data lies where a copy would not see it is refused. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import { foundScript } from "../../infra/sites/ssh-host.ts";
import { inNode, keyPair, lab, makeHost, makeNetwork } from "./lab.ts";

const NAME = `ssh-found-${process.pid}`;
const keys = keyPair();
before(() => {
  makeNetwork(NAME, [{ name: "racks", nat: false }]);
  makeHost(NAME, "racks", "a", keys.publicKey);
});
after(() => {
  lab(["purge", "--lab", NAME]);
  rmSync(keys.directory, { recursive: true, force: true });
});

/** What the step says, and whether anything was noted on the host. */
function found(prepare: string): string {
  return inNode(
    NAME,
    "a",
    `set -e\n${prepare}\ncat > /root/found <<'END_OF_STEP'\nset -euo pipefail\n${foundScript()}\nEND_OF_STEP\nbash /root/found 2>&1 || true; ls -d /var/lib/meshbench-host 2>/dev/null || true`,
  );
}
const ELSEWHERE = "/etc/mysql/mariadb.conf.d/60-elsewhere.cnf";
const MOVED = `systemctl stop mariadb; rm -rf /srv/mysql; cp -a /var/lib/mysql /srv/mysql; printf '[mysqld]\\ndatadir=/srv/mysql\\n' > ${ELSEWHERE}`;
const REFUSED =
  /^a: keeps its database in \/srv\/\S+, and only \/var\/lib\/mysql could be given back as it was; this host is left alone\n$/;

test("a server that is stopped and would start in another directory", () => {
  assert.match(found(MOVED), REFUSED);
});

test("a server that runs there, its option file gone", () => {
  assert.match(found(`${MOVED}; systemctl start mariadb; rm ${ELSEWHERE}`), REFUSED);
});

test("InnoDB's own files elsewhere", () => {
  assert.match(
    found(
      `systemctl stop mariadb; install -d /srv/ibdata; printf '[mariadb]\\ninnodb_data_home_dir=/srv/ibdata\\n' > ${ELSEWHERE}`,
    ),
    REFUSED,
  );
});

test("the usual directory, which is a link", () => {
  assert.match(
    found(`rm -f ${ELSEWHERE}; mv /var/lib/mysql /srv/linked; ln -s /srv/linked /var/lib/mysql`),
    /keeps its database in \/var\/lib\/mysql, /,
  );
});

test("the usual directory without databases of its own is taken", () => {
  assert.match(
    found("rm /var/lib/mysql; mv /srv/linked /var/lib/mysql"),
    /"cpus":\d+.*\n\/var\/lib\/meshbench-host\n$/,
  );
});
