/** The first step on a host that exists, on a node of its own: whose data lies where a copy would not see it is refused. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import { HOSTS } from "../../infra/sites/kinds/ssh.ts";
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
    `set -e\n${prepare}\ncat > /root/found <<'END_OF_STEP'\nset -euo pipefail\n${foundScript("/var/lib/mysql", HOSTS)}\nEND_OF_STEP\nbash /root/found 2>&1 || true; ls -d /var/lib/meshbench-host 2>/dev/null || true`,
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

const CLUSTER = "pg_ctlcluster 15 main";
const psql = (database: string, sql: string): string =>
  `runuser -u postgres -- psql -X -q -d ${database} -c '${sql}' >/dev/null`;

test("PostgreSQL with a database, or with a table in the database that every server has", () => {
  const own =
    /^a: has a database of its own \(\/var\/lib\/postgresql\/15\/main\/base\/[0-9/]+\); this host is left alone\n$/;
  const usual = "rm /var/lib/mysql; mv /srv/linked /var/lib/mysql";
  assert.match(found(`${usual}; ${CLUSTER} start; ${psql("postgres", "CREATE DATABASE theirs")}`), own);
  assert.match(
    found(`${psql("postgres", "DROP DATABASE theirs")}; ${psql("postgres", "CREATE TABLE t (i int)")}`),
    own,
  );
  found(psql("postgres", "DROP TABLE t"));
});

test("PostgreSQL with a cluster elsewhere", () => {
  assert.match(
    found("pg_createcluster -d /srv/pg 15 other >/dev/null"),
    /^a: keeps its database in \/srv\/pg, and only \/var\/lib\/postgresql could be given back as it was; /,
  );
});

test("the usual directories without databases of their own are taken, and given back", () => {
  assert.match(
    found(`pg_dropcluster 15 other; ${CLUSTER} stop; touch /var/lib/mysql/theirs /var/lib/postgresql/theirs`),
    /"cpus":\d+.*\n\/var\/lib\/meshbench-host\n$/,
  );
  const left = inNode(
    NAME,
    "a",
    `rm /var/lib/mysql/theirs /var/lib/postgresql/theirs
echo 'host sbtest meshbench 10.99.0.0/24 scram-sha-256' >> /etc/postgresql/15/main/pg_hba.conf
bash /var/lib/meshbench-host/leave 2>&1
grep -c meshbench /etc/postgresql/15/main/pg_hba.conf
ls -d /var/lib/mysql/theirs /var/lib/postgresql/theirs /var/lib/postgresql/15/main/base /var/lib/meshbench-host 2>/dev/null || true`,
  );
  assert.equal(left, "0\n/var/lib/mysql/theirs\n/var/lib/postgresql/15/main/base\n/var/lib/postgresql/theirs\n");
});
