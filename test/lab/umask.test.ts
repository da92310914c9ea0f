/** A caller's umask decides nothing about what the users of a node can read. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { nodeDirectories } from "../../lab/boot.ts";
import { makeDisk } from "../../lab/disk.ts";
import { closedPath } from "../../lab/image/image.ts";
import { FILES } from "../../lab/image/recipe.ts";
import { paths } from "../../lab/registry.ts";

const LAB = `test-umask-${process.pid}`;
const image = mkdtempSync(join(tmpdir(), "meshbench-image-"));
after(() => {
  rmSync(image, { recursive: true, force: true });
  rmSync(paths.lab(LAB), { recursive: true, force: true });
});

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

for (const mask of [0o027, 0o077])
  test(`a node's disk made under umask ${mask.toString(8).padStart(3, "0")}`, {
    skip: process.getuid?.() === 0 ? false : "SKIPPED: nodes' disks are made by root",
  }, async () => {
    const before = process.umask(mask);
    const { upper } = nodeDirectories(LAB, "db-1");
    try {
      await makeDisk(
        { lab: LAB, site: "rome", name: "db-1", authorizedKeys: [], labels: {}, debian: 12, timeoutSeconds: 60 },
        "10.64.1.10",
      );
    } finally {
      process.umask(before);
    }
    assert.deepEqual(
      ["", "etc", "etc/ssh", "etc/hosts", "etc/machine-id", "root", "root/.ssh"].map((path) => [
        path,
        mode(join(upper, path)),
      ]),
      [
        ["", "755"],
        ["etc", "755"],
        ["etc/ssh", "755"],
        ["etc/hosts", "644"],
        ["etc/machine-id", "444"],
        ["root", "700"],
        ["root/.ssh", "700"],
      ],
    );
    assert.equal(mode(join(upper, "etc/ssh/ssh_host_ed25519_key")), "600");
    assert.equal(mode(join(upper, "root/.ssh/authorized_keys")), "600");
  });

test("an image that keeps its users out is noticed, with the path and its mode", async () => {
  chmodSync(image, 0o755);
  for (const path of ["usr", "var/lib", ...Object.keys(FILES).map((file) => dirname(file))])
    mkdirSync(join(image, path), { recursive: true });
  for (const path of Object.keys(FILES)) writeFileSync(join(image, path), "");
  assert.equal(await closedPath(image), undefined, "a good one");
  chmodSync(join(image, "etc"), 0o750);
  assert.equal(await closedPath(image), "/etc has mode 0750 instead of 0755");
  chmodSync(join(image, "etc"), 0o755);
  chmodSync(join(image, "etc/fstab"), 0o600);
  assert.equal(await closedPath(image), "/etc/fstab has mode 0600 instead of 0644");
  chmodSync(image, 0o700);
  assert.equal(await closedPath(image), "/ has mode 0700 instead of 0755");
});
