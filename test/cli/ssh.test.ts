/** meshbench ssh: which connection, and a real login with the pinned key, straight and through a jump host. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { connectionOf, type Exported, type NodeConnection, sshArguments } from "../../cli/ssh.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";
import { type Sshd, sshdMissing, startSshd } from "../command/sshd.ts";

const secret = (value: unknown): object => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  plaintext: JSON.stringify(value),
});
const CONNECTION = { host: "203.0.113.7", port: 22, user: "admin", privateKey: "KEY", hostKey: "ssh-ed25519 AAAA i-1" };
const exported: Exported = {
  deployment: {
    resources: [
      {
        urn: "urn:pulumi:s::meshbench::command:remote:Command::east-1-wg-key",
        type: "command:remote:Command",
        inputs: { connection: secret(CONNECTION) },
      },
      {
        urn: "urn:pulumi:s::meshbench::command:remote:Command::driver-wg-key",
        type: "command:remote:Command",
        inputs: { connection: { ...CONNECTION, privateKey: secret("OTHER") } },
      },
    ],
  },
};

test("the connection of a node, whole or in part a secret; other names are told which there are", () => {
  assert.deepEqual(connectionOf(exported, "s", "east-1"), CONNECTION);
  assert.equal(connectionOf(exported, "s", "driver").privateKey, "OTHER");
  assert.throws(() => connectionOf(exported, "s", "east-2"), {
    message: "east-2: no node of s; expected one of driver, east-1",
  });
  assert.throws(() => connectionOf({ deployment: { resources: [] } }, "s", "east-1"), /^ReportError: s: has no nodes/);
});

test("no secret is an argument, and a command is passed on as it stands", () => {
  const args = sshArguments("east-1", { ...CONNECTION, proxy: CONNECTION }, "/f", ["uptime", "-p"]);
  assert.ok(!args.join(" ").includes("KEY"));
  assert.deepEqual(args.slice(-4), ["203.0.113.7", "--", "uptime", "-p"]);
});

let sshd: Sshd | undefined;
const reason = await sshdMissing();
before(async () => {
  if (reason === undefined) sshd = await startSshd();
});
after(() => sshd?.stop());

const LOGIN = `import { login } from ${JSON.stringify(join(checkout, "cli/ssh.ts"))};
process.exitCode = await login("east-1", JSON.parse(process.env.CONNECTION), process.argv.slice(1));`;

const loggedIn = (connection: NodeConnection, ...command: string[]) =>
  spawnSync(nodeBinary(), ["--input-type=module", "-e", LOGIN, ...command], {
    encoding: "utf8",
    env: { ...process.env, CONNECTION: JSON.stringify(connection), SSH_AUTH_SOCK: "/nobody/there" },
  });

test("a command runs there and its exit code comes back; another host key is refused; nothing stays behind", {
  skip: reason ?? false,
}, () => {
  const { port, user, privateKey, hostKey } = sshd!;
  const connection = { host: "127.0.0.1", port, user, privateKey, hostKey };
  const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("meshbench-ssh-"));
  const before = folders();
  const ran = loggedIn(connection, "echo", "here;", "exit", "7");
  assert.deepEqual([ran.stdout, ran.status], ["here\n", 7], ran.stderr);
  const jumped = loggedIn({ ...connection, proxy: connection }, "echo", "through");
  assert.equal(jumped.stdout, "through\n", jumped.stderr);
  const other = hostKey.replace(/.{8}( test)?$/, "AAAAAAAA");
  assert.equal(loggedIn({ ...connection, hostKey: other }, "true").status, 255);
  assert.deepEqual(folders(), before);
});
