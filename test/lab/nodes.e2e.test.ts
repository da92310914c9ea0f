/**
 * Real nodes: three sites (one behind NAT), a node in each, on this machine.
 * Proves the network as nodes see it, and that nothing is left behind. Bounds on times are wide:
 * they tell a working emulation from a broken one, not a fast machine from a slow one.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { names } from "../../lab/network/addresses.ts";
import { inNode as inProcess, lab, startLab, whyNot } from "./harness.ts";

const skip = await whyNot();
const name = `e2e-${process.pid}`;
const crashed = `e2e-crash-${process.pid}`;
const clean = { processes: [], mounts: [], namespaces: [], links: [], cgroups: [], files: [] };
const network = {
  lab: name,
  sites: [{ name: "rome" }, { name: "oslo" }, { name: "home", nat: true }],
  links: [
    { between: ["rome", "oslo"], rttMs: 10 },
    { between: ["rome", "home"], rttMs: 20 },
  ],
};

interface Node {
  name: string;
  address: string;
  publicAddress: string;
  behindNat: boolean;
  hostKey: string;
  pid: number;
  created: boolean;
  limits: string;
}

describe("local nodes", { skip, timeout: 600_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), "lab-e2e-"));
  const keyFile = join(directory, "key");
  const nodes: Record<string, Node> = {};
  let publicKey = "";

  const create = (node: string, site: string, more: object = {}) =>
    lab<Node>(["node", "create"], { lab: name, site, name: node, authorizedKeys: [publicKey], ...more });
  const ip = (node: string) => {
    const found = nodes[node];
    assert.ok(found, node);
    return found.address;
  };
  const inNode = (node: string, ...command: string[]) => inProcess(nodes[node]?.pid ?? assert.fail(node), ...command);
  /** Average round-trip time in ms, or undefined when nothing came back. */
  const ping = async (from: string, address: string, count = 5): Promise<number | undefined> => {
    const { stdout } = await inNode(from, "ping", "-q", "-c", String(count), "-i", "0.05", "-W", "1", address);
    const average = /= [\d.]+\/([\d.]+)\//.exec(stdout)?.[1];
    return average === undefined ? undefined : Number(average);
  };
  const ssh = (address: string, hostKey: string, user: string, command: string) => {
    const known = join(directory, "known_hosts");
    writeFileSync(known, `${address} ${hostKey}\n`);
    return spawnSync(
      "ssh",
      [
        "-i",
        keyFile,
        "-o",
        "BatchMode=yes",
        "-o",
        "StrictHostKeyChecking=yes",
        "-o",
        `UserKnownHostsFile=${known}`,
        "-o",
        "ConnectTimeout=10",
        `${user}@${address}`,
        command,
      ],
      { encoding: "utf8" },
    );
  };
  /** Connects from one node to a port that another listens on; what the listener saw as the peer's address. */
  const connectFrom = async (from: string, to: string, address: string, port: number) => {
    const listening = inNode(
      to,
      "timeout",
      "2",
      "socat",
      "-u",
      `TCP-LISTEN:${port},reuseaddr`,
      "SYSTEM:echo $SOCAT_PEERADDR; cat >/dev/null",
    );
    await inNode(
      to,
      "sh",
      "-c",
      `for i in $(seq 50); do ss -Hltn sport = :${port} | grep -q . && exit; sleep 0.02; done`,
    );
    const client = await inNode(
      from,
      "sh",
      "-c",
      `echo x | timeout 1.5 socat -u - TCP:${address}:${port},connect-timeout=1`,
    );
    return { connected: client.code === 0, peer: (await listening).stdout.trim() };
  };

  before(async () => {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "e2e", "-f", keyFile]);
    publicKey = readFileSync(`${keyFile}.pub`, "utf8").trim();
    await lab(["image", "build"]);
    await lab(["network", "apply"], network);
    const made = await Promise.all([create("r1", "rome"), create("o1", "oslo"), create("h1", "home")]);
    for (const node of made) nodes[node.name] = node;
  });
  after(async () => {
    await startLab(["purge", "--lab", name]).ended;
    await startLab(["purge", "--lab", crashed]).ended;
    rmSync(directory, { recursive: true, force: true });
  });

  test("a node is reached over SSH with the host key that create returned, and by no other", () => {
    const { address, hostKey } = nodes.r1 ?? assert.fail();
    assert.equal(ssh(address, hostKey, "root", "hostname").stdout, "r1\n");
    const wrong = ssh(address, nodes.o1?.hostKey ?? "", "root", "hostname");
    assert.equal(wrong.status, 255);
    assert.match(wrong.stderr, /Host key verification failed/);
  });

  test("systemd in the node finds nothing to complain of", async () => {
    const { stdout } = await inNode("r1", "systemctl", "is-system-running", "--wait");
    assert.equal(stdout.trim(), "running");
  });

  test("exec runs a command in the node and passes its exit code on", async () => {
    const ended = await startLab(["node", "exec", "--lab", name, "--name", "r1", "--", "sh", "-c", "hostname; exit 3"])
      .ended;
    assert.deepEqual([ended.stdout, ended.code], ["r1\n", 3]);
  });

  test("applying the same network and creating the same node again changes nothing", async () => {
    const first = await lab(["network", "apply"], network);
    assert.deepEqual(await lab(["network", "apply"], network), first);
    const again = await create("r1", "rome");
    assert.equal(again.created, false);
    assert.deepEqual({ ...again, created: true }, nodes.r1);
  });

  test("the round trip between sites is the link's, within a site nearly nothing", async () => {
    const between = await ping("r1", ip("o1"));
    assert.ok(between !== undefined && between > 9.9 && between < 20, `10 ms set, ${between} ms measured`);
    nodes.r2 = await create("r2", "rome");
    const within = await ping("r1", ip("r2"));
    assert.ok(within !== undefined && within < 5, `${within} ms within a site`);
  });

  test("a running link can be slowed, cut, restored and made lossy, and its counters tell", async () => {
    const set = (...args: string[]) => lab(["link", "set", "--lab", name, "--between", "oslo,rome", ...args]);
    await set("--rtt", "40");
    const slow = await ping("r1", ip("o1"));
    assert.ok(slow !== undefined && slow > 39.9 && slow < 60, `40 ms set, ${slow} ms measured`);
    await set("--rtt", "2", "--cut");
    assert.equal(await ping("r1", ip("o1"), 2), undefined);
    await set("--restore");
    assert.notEqual(await ping("r1", ip("o1"), 2), undefined);
    await set("--loss", "100");
    assert.equal(await ping("r1", ip("o1"), 2), undefined);
    await set("--loss", "0", "--rtt", "10");
    const { counters } = await lab(["link", "show", "--lab", name]);
    const out = counters.find((c: { from: string; to: string }) => c.from === "rome" && c.to === "oslo");
    // 5 + 5 + 2 echo requests of 84 bytes went through, 2 met the cut and 2 the loss.
    assert.deepEqual(
      { ...out, held: 0 },
      { from: "rome", to: "oslo", packets: 12, bytes: 1008, lost: 2, overflow: 0, cut: 2, held: 0 },
    );
  });

  test("a rate limit holds a transfer to it", async () => {
    await lab(["link", "set", "--lab", name, "--between", "rome,oslo", "--rate", "20"]);
    await inNode("o1", "iperf3", "-s", "-1", "-D");
    const { stdout } = await inNode("r1", "iperf3", "-J", "-t", "2", "-c", ip("o1"));
    await lab(["link", "set", "--lab", name, "--between", "rome,oslo", "--rate", "0"]);
    const mbit = JSON.parse(stdout).end.sum_received.bits_per_second / 1e6;
    assert.ok(mbit > 5 && mbit < 21, `20 Mbit/s set, ${mbit} measured`);
  });

  test("a NAT site goes out with its public address and lets nobody in but the operator", async () => {
    const { publicAddress, behindNat, address, hostKey } = nodes.h1 ?? assert.fail();
    assert.equal(behindNat, true);
    assert.deepEqual(await connectFrom("h1", "r1", ip("r1"), 7001), { connected: true, peer: publicAddress });
    const outside = await ping("h1", ip("r1"));
    assert.ok(outside !== undefined && outside > 19.9 && outside < 35, `20 ms set, ${outside} ms measured`);
    assert.equal((await connectFrom("r1", "h1", address, 7002)).connected, false);
    assert.equal((await connectFrom("r1", "h1", publicAddress, 7003)).connected, false);
    assert.equal(ssh(address, hostKey, "root", "hostname").stdout, "h1\n");
  });

  test("a node that loses its power, or its supervisor, boots again on the same disk", async () => {
    await inNode("o1", "sh", "-c", "echo kept > /var/lib/kept; sync /var/lib/kept");
    // Ends with its node, at the latest.
    void inNode("r1", "timeout", "60", "socat", "-u", `TCP:${ip("o1")}:22`, "STDOUT");
    const established = async () =>
      (await inNode("r1", "ss", "-Htn", "state", "established", "dst", ip("o1"))).stdout.trim();
    await inNode(
      "r1",
      "sh",
      "-c",
      `for i in $(seq 50); do ss -Htn state established dst ${ip("o1")} | grep -q . && exit; sleep 0.02; done`,
    );
    await lab(["node", "kill", "--lab", name, "--name", "o1"]);
    assert.equal(await ping("r1", ip("o1"), 2), undefined);
    assert.notEqual(await established(), "", "a power cut closes no connection: the peer hears nothing");
    const started = await lab(["node", "start", "--lab", name, "--name", "o1"]);
    assert.equal(started.hostKey, nodes.o1?.hostKey);
    nodes.o1 = started;
    assert.equal((await inNode("o1", "cat", "/var/lib/kept")).stdout, "kept\n");

    const { processes } = await lab(["leftovers", "--lab", name]);
    const supervisor = processes.find(
      (p: { command: string }) => p.command.startsWith("systemd-nspawn") && p.command.includes("--hostname=o1"),
    );
    process.kill(supervisor.pid, "SIGKILL");
    nodes.o1 = await create("o1", "oslo");
    assert.equal(nodes.o1.created, false);
    assert.equal((await inNode("o1", "cat", "/var/lib/kept")).stdout, "kept\n");
  });

  test("user data is in place when create returns, with the host key it brings", async () => {
    const hostKeyFile = join(directory, "host");
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", hostKeyFile]);
    const indented = readFileSync(hostKeyFile, "utf8")
      .trim()
      .split("\n")
      .map((line) => `    ${line}`)
      .join("\n");
    const hostPublic = readFileSync(`${hostKeyFile}.pub`, "utf8").trim();
    const userData = `#cloud-config
users:
  - name: admin
    sudo: ALL=(ALL) NOPASSWD:ALL
    ssh_authorized_keys: ["${publicKey}"]
ssh_keys:
  ed25519_private: |
${indented}
  ed25519_public: ${hostPublic}
`;
    const node = await create("c1", "oslo", { userData, cpus: 1, memoryMb: 512 });
    assert.equal(node.limits, "applied");
    assert.equal(node.hostKey, hostPublic.split(" ").slice(0, 2).join(" "));
    assert.equal(ssh(node.address, node.hostKey, "admin", "sudo id -un").stdout, "root\n");
  });

  test("a site that is not asked for any more goes with its last node; deleting a node twice is fine", async () => {
    const smaller = { ...network, sites: network.sites.slice(0, 2), links: network.links.slice(0, 1) };
    const homeSite = `/run/netns/${names.site(name, "home")}`;
    const kept = await startLab(["network", "apply"], smaller).ended;
    assert.equal(kept.code, 0, kept.stderr);
    assert.match(kept.stderr, /site "home" stays until its last node is gone/);
    assert.ok(existsSync(homeSite));
    assert.equal((await lab(["node", "delete", "--lab", name, "--name", "h1"])).deleted, true);
    assert.equal((await lab(["node", "delete", "--lab", name, "--name", "h1"])).deleted, false);
    assert.ok(!existsSync(homeSite), "it went with its node");
    const { sites } = await lab(["network", "apply"], smaller);
    assert.deepEqual(Object.keys(sites), ["rome", "oslo"]);
    assert.notEqual(await ping("r1", ip("o1"), 2), undefined);
  });

  test("commands killed in the middle leave nothing that a purge does not find", async () => {
    const network2 = { ...network, lab: crashed };
    let cut = 0;
    // On a quiet machine a command may be done before its turn comes: that is no crash, but some must be.
    const kill = (pid: number): void => {
      try {
        process.kill(pid, "SIGKILL");
        cut++;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    };
    for (const delayMs of [150, 250, 400, 600]) {
      await lab(["network", "apply"], network2);
      const creating = startLab(["node", "create"], { lab: crashed, site: "rome", name: "r1" });
      const applying = startLab(["network", "apply"], {
        ...network2,
        sites: [...network2.sites, { name: `extra-${delayMs}` }],
      });
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      kill(creating.pid);
      kill(applying.pid);
      await Promise.all([creating.ended, applying.ended]);
      await lab(["network", "delete"], network2);
      assert.deepEqual(await lab(["leftovers", "--lab", crashed]), clean);
    }
    assert.ok(cut >= 2, `${cut} commands were killed in the middle`);
  });

  test("purge leaves nothing of a running lab", async () => {
    const running = await lab(["leftovers", "--lab", name]);
    for (const kind of ["processes", "namespaces", "links", "cgroups", "files"])
      assert.notEqual(running[kind].length, 0, kind);
    await lab(["purge", "--lab", name]);
    assert.deepEqual(await lab(["leftovers", "--lab", name]), clean);
    assert.ok(!(await lab<{ lab: string }[]>(["list", "--json"])).some((entry) => entry.lab === name));
  });
});
