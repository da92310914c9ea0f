/**
 * The step that puts the database directory on a disk of its own, on a real block device (a loop device) and a node's
 * own system, in a mount namespace that vanishes with the test. There is no hypervisor in it.
 */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { MARIADB_HOST } from "../../infra/databases/mariadb.ts";
import { POSTGRESQL_HOST } from "../../infra/databases/postgresql-none.ts";
import { DATA_SERIAL, dataDiskScript, hostFacts } from "../../infra/sites/proxmox/storage.ts";
import { lab } from "./lab.ts";

const folder = mkdtempSync(join(tmpdir(), "meshbench-disk-"));
const backing = join(folder, "disk.img");
let loop = "",
  image = "";

before(() => {
  writeFileSync(backing, "");
  truncateSync(backing, 400 * 2 ** 20);
  loop = execFileSync("losetup", ["-f", "--show", backing], { encoding: "utf8" }).trim();
  image = lab(["image", "path"]).trim();
  for (const name of ["upper", "work", "root"]) mkdirSync(join(folder, name));
});
after(() => {
  if (loop) execFileSync("losetup", ["-d", loop]);
  rmSync(folder, { recursive: true, force: true });
});

/**
 * A boot of the node: its disk is the overlay's upper directory, its mounts are those of fstab. Returns what the
 * commands print.
 */
function boot(commands: string): { code: number; out: string; err: string } {
  const { rdev } = statSync(loop);
  const script = `set -euo pipefail
mount -t overlay overlay -o lowerdir=${image},upperdir=${folder}/upper,workdir=${folder}/work ${folder}/root
cd ${folder}/root
mount -t proc proc proc; mount -t tmpfs tmpfs dev
mknod dev/null c 1 3; mknod dev/urandom c 1 9; mknod dev/sdb b ${rdev >> 8} ${rdev & 0xff}
ln -s /proc/self/fd dev/fd; mkdir -p dev/disk/by-id; ln -s ../../sdb dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_${DATA_SERIAL}
# No udev and no manager in this system: what they would do is not what is tried here.
for stub in udevadm systemctl; do printf '#!/bin/sh\\nexit 0\\n' > usr/local/bin/$stub; chmod 755 usr/local/bin/$stub; done
cat > root/steps
exec chroot . /bin/bash -euo pipefail -c 'export PATH=/usr/local/bin:$PATH; mount -a 2>/dev/null || true; . /root/steps'`;
  const ran = spawnSync("unshare", ["--mount", "--propagation", "private", "--pid", "--fork", "bash", "-c", script], {
    input: commands,
    encoding: "utf8",
  });
  return { code: ran.status ?? 1, out: ran.stdout, err: ran.stderr };
}

test("a blank disk gets a filesystem, and what a package made in the directory moves along", () => {
  const ran = boot(`touch /var/lib/mysql/made-by-a-package; chown mysql:mysql /var/lib/mysql/made-by-a-package
${dataDiskScript("ext4", MARIADB_HOST)}
stat -c '%U %G' /var/lib/mysql /var/lib/mysql/made-by-a-package
ls /srv/meshbench; cat /etc/fstab
${hostFacts("/var/lib/mysql")}`);
  assert.equal(ran.code, 0, ran.err);
  assert.match(ran.out, /^mysql mysql\nmysql mysql\nlost\+found\nmysql\n/);
  assert.match(ran.out, /^UUID=\S+ \/srv\/meshbench ext4 noatime 0 2$/m);
  const facts = JSON.parse(ran.out.trim().split("\n").at(-1)!) as {
    databaseOn: { source: string; filesystem: string };
  };
  assert.match(facts.databaseOn.source, /sdb\[\/mysql\]$|loop\d+\[\/mysql\]$/);
  assert.equal(facts.databaseOn.filesystem, "ext4");
});

test("after a restart it is mounted again, and a second run of the step changes nothing", () => {
  const ran = boot(`mountpoint -q /var/lib/mysql && ls /var/lib/mysql/made-by-a-package
before=$(cat /etc/fstab)
${dataDiskScript("ext4", MARIADB_HOST)}
[ "$before" = "$(cat /etc/fstab)" ]; findmnt -n -o TARGET | grep -c '/var/lib/mysql$'`);
  assert.equal(ran.code, 0, ran.err);
  assert.deepEqual(ran.out.trim().split("\n"), ["/var/lib/mysql/made-by-a-package", "1"]);
});

test("of another engine its own directory lies on the disk, and facts say so", () => {
  const ran = boot(`${dataDiskScript("ext4", POSTGRESQL_HOST)}
stat -c '%U' /var/lib/postgresql; ls -d /var/lib/postgresql/*/main/base
${hostFacts(POSTGRESQL_HOST.dataDirectory)}`);
  assert.equal(ran.code, 0, ran.err);
  assert.match(ran.out, /^postgres\n\/var\/lib\/postgresql\/\d+\/main\/base\n/);
  assert.match(ran.out, /"databaseOn":\{"source":"[^"]+\[\/postgresql\]"/);
});

test("a disk that holds another filesystem is never formatted", () => {
  execFileSync("mkfs.ext4", ["-q", "-F", loop]);
  const ran = boot(
    `rm -f /etc/fstab; touch /etc/fstab\numount /var/lib/mysql /srv/meshbench 2>/dev/null || true\n${dataDiskScript("xfs", MARIADB_HOST).slice(dataDiskScript("xfs", MARIADB_HOST).indexOf("device="))}`,
  );
  assert.equal(ran.code, 1);
  assert.match(ran.err, /holds ext4, not xfs; it is left alone/);
});
