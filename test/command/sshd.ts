import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensurePackages } from "../../harness/servers/debian.ts";

export interface Sshd {
  port: number;
  user: string;
  privateKey: string;
  /** The same key, encrypted with `passphrase`. */
  encryptedKey: string;
  passphrase: string;
  /** As a line of authorized_keys. */
  hostKey: string;
  pid: number;
  stop(): Promise<void>;
}

/** Why there is no sshd to test with; undefined: there is. */
export async function sshdMissing(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "NOT RUN: sshd can only be started by root here";
  const packages = await ensurePackages(["openssh-server", "openssh-client"]);
  return packages.ok ? undefined : `NOT RUN: ${packages.reason}`;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function makeKey(file: string, passphrase = ""): string {
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", passphrase, "-C", "test", "-f", file]);
  return readFileSync(file, "utf8");
}

async function answers(port: number, server: ChildProcess): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (server.exitCode !== null) throw new Error(`sshd ended with exit code ${server.exitCode}`);
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
    if (open) return;
    await sleep(25);
  }
  throw new Error("sshd never listened");
}

/** A real OpenSSH server on loopback, with keys and configuration of its own; `more` are further lines of it. */
export async function startSshd(more: string[] = []): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), "meshbench-sshd-"));
  const port = await freePort();
  const passphrase = "letters and 4 digits";
  const privateKey = makeKey(join(folder, "user"));
  const encryptedKey = makeKey(join(folder, "encrypted"), passphrase);
  makeKey(join(folder, "host"));
  writeFileSync(
    join(folder, "authorized_keys"),
    readFileSync(join(folder, "user.pub"), "utf8") + readFileSync(join(folder, "encrypted.pub"), "utf8"),
  );
  mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  writeFileSync(
    join(folder, "config"),
    [
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey ${folder}/host`,
      `AuthorizedKeysFile ${folder}/authorized_keys`,
      `PidFile ${folder}/pid`,
      "PermitRootLogin prohibit-password",
      "PasswordAuthentication no",
      "UsePAM no",
      "StrictModes no",
      "AcceptEnv MESHBENCH_* PULUMI_COMMAND_*",
      "AllowTcpForwarding yes",
      "Subsystem sftp internal-sftp",
      "MaxStartups 100:30:200",
      ...more,
      "",
    ].join("\n"),
  );
  const server = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", join(folder, "config")], { stdio: "ignore" });
  await answers(port, server);
  return {
    port,
    privateKey,
    encryptedKey,
    passphrase,
    user: userInfo().username,
    hostKey: readFileSync(join(folder, "host.pub"), "utf8").trim(),
    pid: server.pid ?? 0,
    stop: async () => {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
