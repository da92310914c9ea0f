/**
 * A node as a cloud's image comes: what the stacks find there, and two package steps side by side while apt-daily works.
 * Its apt-daily is a stand-in that holds the locks, and the archive is a folder of this machine.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ensurePackages, QUIET_SCRIPT } from "../../infra/packages.ts";
import { cloudInit } from "../../infra/sites/cloud-init.ts";
import { type Ended, inNode, lab, startLab, whyNot } from "./harness.ts";

const skip = await whyNot();
const name = `bare-${process.pid.toString(36)}`;
const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJu1KQfQ0wWc1q3Yl3m6cWj2eK0mM2mKk1Yp7r8n9s0t operator";
let pid = 0;

const make = (node: string, userData: string): Promise<{ pid: number; hostKey: string }> =>
  lab(["node", "create"], {
    lab: name,
    site: "here",
    name: node,
    bare: { user: "admin" },
    userData,
    timeoutSeconds: 180,
  });
const sh = (script: string): Promise<Ended> => inNode(pid, "bash", "-euo", "pipefail", "-c", script);

before(async () => {
  if (skip) return;
  await lab(["network", "apply"], { lab: name, sites: [{ name: "here" }] });
  ({ pid } = await make("n1", cloudInit({ user: "admin", authorizedKeys: [key], hostname: "n1" })));
});
after(async () => {
  if (!skip) await lab(["purge", "--lab", name]);
});

test("two package steps at once, while apt-daily holds apt's locks: both come to their end", { skip }, async () => {
  const holder = await sh("systemctl is-active apt-daily.service || true");
  assert.equal(holder.stdout.trim(), "activating", "apt-daily is at work, as after a cloud's first boot");
  const dies = await sh("apt-get -q update 2>&1; echo ended with $?");
  assert.match(dies.stdout, /Could not get lock \/var\/lib\/apt\/lists\/lock/, "what a step of its own would have met");
  const steps = await Promise.all([
    sh(`${QUIET_SCRIPT}\n${ensurePackages(["wireguard-tools", "iperf3"])}`),
    sh(ensurePackages(["haproxy", "socat"])),
  ]);
  for (const { code, stderr } of steps) assert.equal(code, 0, stderr);
  assert.match(steps.map(({ stderr }) => stderr).join(""), /n1: waiting for process \d+ \(python3\)/);
  const found = await sh("command -v wg iperf3 haproxy socat");
  assert.equal(found.stdout.trim().split("\n").length, 4, found.stderr);
});

test("nothing that a stack installs is there before, sshd has the distribution's settings", { skip }, async () => {
  const { stdout } = await sh("ls /usr/bin /usr/sbin; sshd -T | grep -iE '^(maxstartups|maxsessions)'");
  for (const program of ["mariadbd", "mysqld", "node", "curl", "rsync", "sysbench", "wireguard-go", "ping"])
    assert.ok(!stdout.split("\n").includes(program), program);
  assert.match(stdout, /maxstartups 10:30:100/i);
  assert.match(stdout, /maxsessions 10/i);
});

test("without a host key in the user data the first boot makes three, and the image's own user is there", {
  skip,
}, async () => {
  const other = await make("n2", `#cloud-config\nusers: [default]\nssh_authorized_keys: ["${key}"]\n`);
  const { stdout } = await inNode(
    other.pid,
    "sh",
    "-c",
    "ls /etc/ssh/ssh_host_*_key; cat /etc/ssh/ssh_host_ed25519_key.pub; id -un 1000; sudo -n -u admin sudo -n true && echo root by sudo",
  );
  for (const type of ["rsa", "ecdsa", "ed25519"]) assert.match(stdout, new RegExp(`ssh_host_${type}_key`));
  assert.ok(stdout.includes(other.hostKey), "the lab says which key the node shows");
  assert.match(stdout, /^admin\nroot by sudo$/m);
});

test("without user data it is refused", { skip }, async () => {
  const { code, stderr } = await startLab(["node", "create"], {
    lab: name,
    site: "here",
    name: "n3",
    bare: { user: "admin" },
  }).ended;
  assert.equal(code, 1);
  assert.match(stderr, /^lab: node: bare: a bare node needs userData/);
});
