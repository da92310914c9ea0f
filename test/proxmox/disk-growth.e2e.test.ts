/**
 * The step that grows partition and filesystem, on real block devices (loop devices that are made larger) and a node's own
 * system, in a mount namespace that vanishes with the test. What makes the disk larger is this test, not a cloud.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { growScript } from "../../infra/sites/disk-growth.ts";
import { golden } from "../infra/golden.ts";
import { lab } from "./lab.ts";

const GIB = 2 ** 30;
const folder = mkdtempSync(join(tmpdir(), "meshbench-growth-"));
let image = "",
  missing = "";

const call = (command: string, ...args: string[]): string => execFileSync(command, args, { encoding: "utf8" }).trim();

before(() => {
  image = lab(["image", "path"]).trim();
  for (const name of ["upper", "work", "root"]) mkdirSync(join(folder, name));
  const tools = inNode("apt-get -q update && apt-get -q install -y --no-install-recommends cloud-guest-utils xfsprogs");
  if (tools.code !== 0) missing = `growpart and xfsprogs cannot be installed: ${tools.err.trim().split("\n").at(-1)}`;
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs commands in the node's system, with this machine's devices. The overlay's upper directory is its disk. */
function inNode(commands: string): { code: number; out: string; err: string } {
  const script = `set -euo pipefail
mount -t overlay overlay -o lowerdir=${image},upperdir=${folder}/upper,workdir=${folder}/work ${folder}/root
cd ${folder}/root
mount -t proc proc proc; mount --rbind /sys sys; mount --rbind /dev dev
cp /etc/resolv.conf etc/resolv.conf; mkdir -p srv/meshbench; cat > root/steps
exec chroot . /bin/bash -euo pipefail /root/steps`;
  const ran = spawnSync("unshare", ["--mount", "--propagation", "private", "--pid", "--fork", "bash", "-c", script], {
    input: commands,
    encoding: "utf8",
    timeout: 300_000,
  });
  return { code: ran.status ?? 1, out: ran.stdout, err: ran.stderr };
}

function skip(t: TestContext, why: string): undefined {
  console.error(`NOT TRIED: ${t.name}: ${why}`);
  t.skip(why);
}

/** ext4 asks for CAP_SYS_RESOURCE of whoever grows it mounted, which some containers hold back. */
const mayResize = (): boolean =>
  ((BigInt(`0x${/^CapEff:\s*(\w+)/m.exec(readFileSync("/proc/self/status", "utf8"))![1]}`) >> 24n) & 1n) === 1n;

/** A file of 2 GiB as a disk. Absent where this machine makes no loop devices, which is said. */
function disk(t: TestContext, name: string): { device: string; grow: (gib: number) => void } | undefined {
  if (missing) return skip(t, missing);
  const file = join(folder, name);
  writeFileSync(file, "");
  truncateSync(file, 2 * GIB);
  let device: string;
  try {
    device = call("losetup", "--find", "--show", "--partscan", file);
  } catch (error) {
    return skip(t, `no loop device: ${(error as { stderr?: string }).stderr?.trim()}`);
  }
  t.after(() => call("losetup", "--detach", device));
  return {
    device,
    grow: (gib) => {
      truncateSync(file, gib * GIB);
      call("losetup", "--set-capacity", device);
    },
  };
}

/** Of the filesystem, as \`df\` sees it, in MiB. */
const SIZE = "df --block-size=1M --output=size /srv/meshbench | tail -n 1";
const sizeOf = (out: string): number => Number(out.trim().split("\n").at(-1));

for (const [type, options] of [
  ["ext4", "-q -F"],
  ["xfs", "-q -f"],
] as const)
  for (const partitioned of [true, false])
    test(`${type} ${partitioned ? "in a partition" : "on the whole disk"} follows its disk, mounted as it is`, (t) => {
      if (type === "ext4" && !mayResize())
        return skip(t, "without CAP_SYS_RESOURCE, ext4 cannot be grown as it is mounted");
      const made = disk(t, `${type}-${partitioned}`);
      if (!made) return;
      const { device, grow } = made;
      const on = partitioned ? `${device}p1` : device;
      const mounted = (gib: number): string => `mount ${on} /srv/meshbench
cat /srv/meshbench/kept
${growScript([{ mount: "/srv/meshbench", sizeGb: gib }])}
${SIZE}`;
      const first =
        inNode(`${partitioned ? `echo ',' | sfdisk -q --label gpt ${device}; sleep 0.5; [ -b ${on} ] || { echo NO_PARTITIONS >&2; exit 3; }; ` : ""}mkfs.${type} ${options} ${on}
mount ${on} /srv/meshbench; echo data > /srv/meshbench/kept; ${SIZE}`);
      if (/NO_PARTITIONS/.test(first.err)) return skip(t, "this kernel shows no partitions of loop devices");
      assert.equal(first.code, 0, first.err);
      const before = sizeOf(first.out);
      assert.ok(before > 1700 && before < 2100, `${before} MiB`);

      const idle = inNode(mounted(2));
      assert.equal(idle.code, 0, idle.err);
      assert.equal(sizeOf(idle.out), before, "nothing to grow");

      grow(4);
      for (const pass of ["grown", "and once more"]) {
        const ran = inNode(mounted(4));
        assert.equal(ran.code, 0, `${pass}: ${ran.err}`);
        assert.match(ran.out, /^data$/m);
        assert.ok(sizeOf(ran.out) > 3600, `${pass}: ${ran.out}`);
      }
    });

/** What the script takes from the tools, where the kernel shows no partitions too: a file is a disk to both. */
test("growpart grows the last partition once and says NOCHANGE with 1 from then on", (t) => {
  if (missing) return skip(t, missing);
  const ran = inNode(`truncate -s 1G /root/disk; echo ',' | sfdisk -q --label gpt /root/disk
truncate -s 2G /root/disk
growpart /root/disk 1 | grep -c ^CHANGED
code=0; said=$(growpart /root/disk 1 2>&1) || code=$?; echo "$code \${said%%:*}"
sfdisk --json /root/disk | grep -o '"size": *[0-9]*'`);
  assert.equal(ran.code, 0, ran.err);
  const [changed, again, size] = ran.out.trim().split("\n");
  assert.deepEqual([changed, again], ["1", "1 NOCHANGE"]);
  assert.ok((Number(size!.split(":")[1]) * 512) / GIB > 1.9, size);
});

/** The steps of the script by the kernel's names of disks, on a made-up /sys and with tools that note how they are called. */
for (const [device, parent, part, type, calls] of [
  ["sda1", "sda", "1", "ext4", ["growpart /dev/sda 1", "resize2fs /dev/sda1"]],
  ["nvme0n1p1", "nvme0n1", "1", "ext4", ["growpart /dev/nvme0n1 1", "resize2fs /dev/nvme0n1p1"]],
  ["vda3", "vda", "3", "xfs", ["growpart /dev/vda 3", "xfs_growfs /"]],
  ["sdb", "sdb", "", "ext4", ["resize2fs /dev/sdb"]],
] as const)
  test(`${type} on ${device}: ${calls.join(", ")}`, () => {
    const root = mkdtempSync(join(folder, "sys-"));
    const block = join(root, "block");
    mkdirSync(join(root, "devices", parent, device), { recursive: true });
    mkdirSync(block);
    symlinkSync(join(root, "devices", parent), join(block, parent));
    if (part) {
      symlinkSync(join(root, "devices", parent, device), join(block, device));
      writeFileSync(join(root, "devices", parent, device, "partition"), `${part}\n`);
    }
    const stubs = {
      findmnt: `case "$*" in *SOURCE*) echo /dev/${device} ;; *) echo ${type} ;; esac`,
      blockdev: `echo $((64 << 30))`,
      "dpkg-query": "echo installed",
      growpart: `echo "growpart $*" >> ${root}/calls; echo "NOCHANGE: nothing"; exit 1`,
      resize2fs: `echo "resize2fs $*" >> ${root}/calls`,
      xfs_growfs: `echo "xfs_growfs $*" >> ${root}/calls`,
    };
    const run = (gib: number): ReturnType<typeof spawnSync> =>
      spawnSync(
        "bash",
        [
          "-euo",
          "pipefail",
          "-c",
          `${Object.entries(stubs)
            .map(([name, text]) => `${name}() ( ${text}; )`)
            .join(
              "\n",
            )}\nsleep() { :; }\n${growScript([{ mount: "/", sizeGb: gib }]).replaceAll("/sys/class/block", block)}`,
        ],
        { encoding: "utf8" },
      );
    const ran = run(64);
    assert.equal(ran.status, 0, String(ran.stderr));
    assert.deepEqual(readFileSync(join(root, "calls"), "utf8").trim().split("\n"), calls);
    const late = run(100);
    assert.equal(late.status, 1);
    assert.match(String(late.stderr), new RegExp(`/dev/${parent} has 64 GiB, expected 100`));
  });

test("what lies on no disk of its own is left alone", () => {
  const ran = inNode(`mount -t tmpfs tmpfs /srv/meshbench\n${growScript([{ mount: "/srv/meshbench", sizeGb: 9999 }])}`);
  assert.equal(ran.code, 0, ran.err);
  assert.equal(ran.out + ran.err, "");
});

test("the script, whole", () =>
  golden(
    "grow-disks.sh",
    growScript([
      { mount: "/", sizeGb: 32 },
      { mount: "/srv/meshbench", sizeGb: 100 },
    ]),
  ));
