/**
 * What the project relies on from @pulumi/command 1.2.1, held against the stand-in and, where this
 * machine has it, against the vendor's plugin: the same stacks, the same real engine, a real sshd.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { freePort, type Sshd, sshdMissing, startSshd } from "./sshd.ts";
import { errors, operations, type Plugin, type Resource, type Run, standIn, TestStack, vendor } from "./stack.ts";

const secret = "only-for-the-state-file";
const noSshd = await sshdMissing();

/** The stack in its first and, after a change of inputs, its second form. */
function resources(root: string, sshd: Sshd, closedPort: number, changed: boolean): Resource[] {
  const version = changed ? "2" : "1";
  const log = (word: string) => `echo ${word} >> ${root}/log`;
  const connection = {
    host: "127.0.0.1",
    port: sshd.port,
    user: sshd.user,
    privateKey: sshd.privateKey,
    hostKey: sshd.hostKey,
    dialErrorLimit: 1,
  };
  return [
    {
      type: "local.Command",
      name: "updated",
      args: {
        create: `${log("updated-create")}; echo out; echo err >&2`,
        update: `${log("updated-update")}; echo "was $PULUMI_COMMAND_STDOUT/$PULUMI_COMMAND_STDERR"`,
        delete: `echo "updated-delete $PULUMI_COMMAND_STDOUT" >> ${root}/log`,
        environment: { VERSION: version },
      },
    },
    {
      type: "local.Command",
      name: "fallback",
      args: { create: `${log("fallback")}; echo $VERSION`, environment: { VERSION: version } },
    },
    {
      type: "local.Command",
      name: "triggered",
      args: {
        create: log("triggered-create"),
        update: log("triggered-update"),
        delete: log("triggered-delete"),
        triggers: ["same", version],
      },
    },
    {
      type: "local.Command",
      name: "stdin",
      args: { create: "cat", stdin: { $secret: secret }, logging: "none" },
      opts: { additionalSecretOutputs: ["stdout"] },
    },
    {
      type: "local.Command",
      name: "interpreter",
      args: { interpreter: ["/bin/bash", "-c"], dir: "/usr", create: "pwd; echo ${BASH_VERSION:+bash}" },
    },
    {
      type: "local.Command",
      name: "forgetful",
      args: {
        create: "echo before",
        update: 'echo "[$PULUMI_COMMAND_STDOUT]"',
        environment: { VERSION: version },
        addPreviousOutputInEnv: false,
      },
    },
    { type: "local.Command", name: "newlines", args: { create: "printf 'a\\n\\n'" } },
    { type: "local.Command", name: "dependent", args: { create: "cat", stdin: { $stdout: "fallback" } } },
    { type: "local.Command", name: "quiet", args: { create: "echo hush; echo hush >&2", logging: "none" } },
    { type: "local.Command", name: "onlystderr", args: { create: "echo hidden; echo shown >&2", logging: "stderr" } },
    {
      type: "remote.Command",
      name: "remote",
      args: {
        connection,
        create: 'cat; echo "$MESHBENCH_VALUE"; echo err >&2',
        update: 'echo "was $PULUMI_COMMAND_STDOUT"',
        delete: log("remote-delete"),
        stdin: `in ${version}\n`,
        environment: { MESHBENCH_VALUE: "set" },
      },
    },
    {
      type: "remote.Command",
      name: "jump",
      args: {
        create: "echo through",
        connection: {
          ...connection,
          proxy: { ...connection, privateKey: sshd.encryptedKey, privateKeyPassword: sshd.passphrase },
        },
      },
    },
    {
      type: "remote.Command",
      name: "orphan",
      args: { connection, delete: log("orphan-delete"), create: "true" },
      opts: { deletedWith: "remote" },
    },
    { type: "remote.Command", name: "nothing", args: { connection: { ...connection, port: closedPort } } },
    {
      type: "remote.CopyToRemote",
      name: "file",
      args: { connection, source: { $file: `${root}/source.txt` }, remotePath: `${root}/deep/er/copy.txt` },
    },
    {
      type: "remote.CopyToRemote",
      name: "same",
      args: { connection, source: { $file: `${root}/steady.txt` }, remotePath: `${root}/steady-copy.txt` },
    },
    {
      type: "remote.CopyToRemote",
      name: "text",
      args: { connection, source: { $text: `text ${version}` }, remotePath: `${root}/text.txt` },
    },
    {
      type: "remote.CopyToRemote",
      name: "folder",
      args: { connection, source: { $archive: `${root}/tree/` }, remotePath: `${root}/tree-copy` },
    },
  ];
}

/** Commands that fail, each in its own way, in one stack. */
function failing(sshd: Sshd, otherHostKey: string, closedPort: number): Resource[] {
  const connection = {
    host: "127.0.0.1",
    port: sshd.port,
    user: sshd.user,
    privateKey: sshd.privateKey,
    hostKey: sshd.hostKey,
    dialErrorLimit: 1,
  };
  return [
    { type: "local.Command", name: "local", args: { create: "echo out; echo err >&2; exit 3" } },
    { type: "local.Command", name: "killed", args: { create: "kill -9 $$" } },
    { type: "local.Command", name: "nodir", args: { create: "true", dir: "/no/such/folder" } },
    { type: "remote.Command", name: "remote", args: { connection, create: "echo out; exit 4" } },
    {
      type: "remote.Command",
      name: "refusedenv",
      args: { connection, create: "echo ran > /tmp/never", environment: { OTHER: "1" } },
    },
    {
      type: "remote.Command",
      name: "wronghostkey",
      args: { connection: { ...connection, hostKey: otherHostKey }, create: "true" },
    },
    {
      type: "remote.Command",
      name: "unreachable",
      args: { connection: { ...connection, port: closedPort, dialErrorLimit: 2 }, create: "true" },
    },
    {
      type: "remote.Command",
      name: "badkey",
      args: { connection: { ...connection, privateKey: "no key" }, create: "true" },
    },
    {
      type: "remote.CopyToRemote",
      name: "nocopy",
      args: { connection, source: { $text: "x" }, remotePath: "/proc/no/such" },
    },
  ];
}

interface Seen {
  created: Run;
  again: Run;
  preview: Run;
  changed: Run;
  refreshed: Run;
  destroyed: Run;
  failed: Run;
  rejected: Run;
  firstOutputs: Record<string, { stdout: string; stderr: string }>;
  outputs: Record<string, { stdout: string; stderr: string }>;
  state: Awaited<ReturnType<TestStack["exported"]>>;
  log: string[];
  steadyAfterChange: string;
  files: Record<string, string>;
}

async function observe(plugin: Plugin, sshd: Sshd, otherHostKey: string, closedPort: number): Promise<Seen> {
  const stack = new TestStack(plugin);
  const { root } = stack.scratch;
  try {
    for (const [name, text] of Object.entries({
      "source.txt": "first",
      "steady.txt": "steady",
      "tree/a": "a",
      "tree/sub/b": "b",
    }))
      stack.scratch.write(name, text);
    const up = ["up", "--yes", "--skip-preview"];
    const created = await stack.run(up, resources(root, sshd, closedPort, false));
    assert.equal(created.code, 0, created.stdout + created.stderr);
    const firstOutputs = await stack.outputs();
    const again = await stack.run(up);
    writeFileSync(join(root, "source.txt"), "second");
    writeFileSync(join(root, "steady-copy.txt"), "touched");
    const preview = await stack.run(["preview"], resources(root, sshd, closedPort, true));
    const changed = await stack.run(up);
    assert.equal(changed.code, 0, changed.stdout + changed.stderr);
    const outputs = await stack.outputs();
    const state = await stack.exported();
    const refreshed = await stack.run(["refresh", "--yes", "--skip-preview"]);
    const destroyed = await stack.run(["destroy", "--yes", "--skip-preview"]);
    const failed = await stack.run([...up, "--continue-on-error"], failing(sshd, otherHostKey, closedPort));
    const rejected = await stack.run(
      [...up],
      [
        {
          type: "remote.Command",
          name: "misspelt",
          args: { connection: { host: "127.0.0.1", prot: 22 }, create: "true" },
        },
      ],
    );
    const files = Object.fromEntries(
      ["deep/er/copy.txt", "steady-copy.txt", "text.txt", "tree-copy/a", "tree-copy/sub/b"].map((name) => [
        name,
        existsSync(join(root, name)) ? readFileSync(join(root, name), "utf8") : "missing",
      ]),
    );
    return {
      created,
      again,
      preview,
      changed,
      refreshed,
      destroyed,
      failed,
      rejected,
      firstOutputs,
      outputs,
      state,
      files,
      log: readFileSync(join(root, "log"), "utf8").trim().split("\n"),
      steadyAfterChange: files["steady-copy.txt"] ?? "",
    };
  } finally {
    stack.scratch.remove();
  }
}

/** Inputs and outputs in the state, without what is different by nature: folders, ciphertext. */
function comparable({ state }: Seen): Record<string, unknown> {
  const commands = Object.entries(state.resources).filter(([name]) => !name.startsWith("default_"));
  const kept = commands.map(([name, { inputs, outputs }]) => [name, { inputs, outputs }]);
  return JSON.parse(
    JSON.stringify(Object.fromEntries(kept), (key, value: unknown) => {
      if (key === "ciphertext") return undefined;
      return typeof value === "string"
        ? value.replaceAll(/meshbench-project-\w+/g, "project").replaceAll(/127.0.0.1:\d+|"\d{5}"/g, "port")
        : value;
    }),
  ) as Record<string, unknown>;
}

const seen: Partial<Record<Plugin["name"], Seen>> = {};

for (const plugin of [standIn, vendor]) {
  const skip =
    noSshd ??
    (plugin.folder === undefined
      ? "the vendor's pulumi-resource-command is neither on PATH nor in MESHBENCH_VENDOR_BIN: NOT CHECKED AGAINST IT"
      : false);

  describe(`the ${plugin.name}`, { skip }, () => {
    let sshd: Sshd;
    let s: Seen;
    before(async () => {
      sshd = await startSshd();
      const other = await startSshd();
      await other.stop();
      s = await observe(plugin, sshd, other.hostKey, await freePort());
      seen[plugin.name] = s;
    });
    after(() => sshd.stop());

    test("creates, and gives stdout and stderr without the last newline", () => {
      assert.deepEqual(s.firstOutputs["updated"], { stdout: "out", stderr: "err" });
      assert.deepEqual(s.firstOutputs["newlines"], { stdout: "a\n", stderr: "" });
      assert.deepEqual(s.firstOutputs["nothing"], { stdout: "", stderr: "" });
    });

    test("runs nothing when nothing changed", () => {
      for (const [name, ops] of Object.entries(operations(s.again))) assert.deepEqual(ops, ["same"], name);
    });

    test("previews what would change, without running it", () => {
      assert.equal(s.preview.code, 0, s.preview.stderr);
      assert.deepEqual(operations(s.preview)["fallback"], ["update"]);
      assert.deepEqual(operations(s.preview)["dependent"], ["update"]);
      assert.equal(s.log.filter((line) => line === "fallback").length, 2);
    });

    test("updates with the update command, which sees the previous output", () => {
      assert.deepEqual(operations(s.changed)["updated"], ["update"]);
      assert.equal(s.outputs["updated"]?.stdout, "was out/err");
      assert.equal(s.outputs["remote"]?.stdout, "was in 1\nset");
    });

    test("updates with the create command when there is no other", () => {
      assert.deepEqual(operations(s.changed)["fallback"], ["update"]);
      assert.equal(s.outputs["fallback"]?.stdout, "2");
      assert.equal(s.outputs["dependent"]?.stdout, "2");
    });

    test("hides the previous output where that is asked for", () => assert.equal(s.outputs["forgetful"]?.stdout, "[]"));

    test("replaces when a trigger changes, even with an update command", () => {
      assert.deepEqual(
        s.log.filter((line) => line.startsWith("triggered")),
        ["triggered-create", "triggered-create", "triggered-delete", "triggered-delete"],
      );
      assert.ok(operations(s.changed)["triggered"]?.includes("replace"));
    });

    test("feeds stdin, uses interpreter and folder", () => {
      assert.equal(s.firstOutputs["stdin"]?.stdout, secret);
      assert.equal(s.firstOutputs["interpreter"]?.stdout, "/usr\nbash");
    });

    test("runs on the host, with stdin and environment, and through a jump host", () => {
      assert.deepEqual(s.firstOutputs["remote"], { stdout: "in 1\nset", stderr: "err" });
      assert.equal(s.firstOutputs["jump"]?.stdout, "through");
    });

    test("keeps secrets encrypted in the state", () => {
      for (const hidden of [secret, sshd.passphrase, sshd.privateKey.split("\n")[1] ?? "?"])
        assert.ok(!s.state.text.includes(hidden));
      const isCiphertext = (value: unknown) => typeof value === "object" && value !== null && "ciphertext" in value;
      const { stdin, remote } = s.state.resources;
      for (const value of [
        stdin?.inputs["stdin"],
        stdin?.outputs["stdin"],
        stdin?.outputs["stdout"],
        remote?.inputs["connection"],
        remote?.outputs["connection"],
      ]) {
        assert.ok(isCiphertext(value), JSON.stringify(value));
      }
    });

    test("streams what a command prints, unless told not to", () => {
      const lines = (name: string) =>
        s.created.events.filter((e) => e.kind === "log" && e.resource === name).map((e) => e.text);
      assert.deepEqual(lines("updated").sort(), ["err", "out"]);
      assert.deepEqual(lines("onlystderr"), ["shown"]);
      assert.deepEqual(lines("quiet"), []);
      assert.deepEqual(lines("stdin"), []);
      assert.ok(s.created.events.filter((e) => e.kind === "log" && e.resource === "remote").every((e) => e.ephemeral));
    });

    test("copies files, texts and folders, and copies again only what changed", () => {
      assert.deepEqual(s.files, {
        "deep/er/copy.txt": "second",
        "steady-copy.txt": "touched",
        "text.txt": "text 2",
        "tree-copy/a": "a",
        "tree-copy/sub/b": "b",
      });
      assert.deepEqual(operations(s.changed)["same"], ["same"]);
      assert.deepEqual(operations(s.changed)["file"], ["update"]);
    });

    test("finds no drift on refresh", () => {
      assert.equal(s.refreshed.code, 0, s.refreshed.stderr);
      for (const [name, ops] of Object.entries(operations(s.refreshed))) assert.deepEqual(ops, ["refresh"], name);
    });

    test("deletes with the delete command, but not what goes with something else", () => {
      assert.equal(s.destroyed.code, 0, s.destroyed.stdout);
      assert.ok(s.log.includes("updated-delete was out/err"));
      assert.ok(s.log.includes("remote-delete"));
      assert.ok(!s.log.includes("orphan-delete"));
    });

    test("says why a command failed, with its output", () => {
      const failures = errors(s.failed);
      assert.notEqual(s.failed.code, 0);
      assert.match(
        failures["local"] ?? "",
        /exit status 3: running "echo out; echo err >&2; exit 3":\n(out\nerr|err\nout)/,
      );
      assert.match(failures["killed"] ?? "", /signal: killed: running "kill -9 \$\$"/);
      assert.match(failures["nodir"] ?? "", /no such file or directory/);
      assert.match(failures["remote"] ?? "", /Process exited with status 4: running "echo out; exit 4":\nout/);
      assert.match(failures["nocopy"] ?? "", /failed to create .*\/proc\/no/);
    });

    test("refuses a host with another key, and gives up on one that doesn't answer", () => {
      const failures = errors(s.failed);
      assert.match(
        failures["wronghostkey"] ?? "",
        /after 1 failed attempts: ssh: handshake failed: ssh: host key mismatch/,
      );
      assert.match(
        failures["unreachable"] ?? "",
        /after 2 failed attempts: dial tcp 127\.0\.0\.1:\d+: connect: connection refused/,
      );
      assert.match(failures["badkey"] ?? "", /ssh: no key found/);
      const retries = s.failed.events.filter((e) => e.resource === "unreachable" && e.ephemeral).map((e) => e.text);
      assert.deepEqual(retries, ["Dial 1/2 failed: retrying", "Dial 2/2 failed: retrying"]);
    });

    test("refuses a connection with a property that there is none of, before anything runs", () => {
      assert.match(errors(s.rejected)["misspelt"] ?? "", /property connection .*\n?.*prot: Unrecognized field 'prot'/);
    });

    test("doesn't run a command whose environment the server refuses", () => {
      assert.match(
        errors(s.failed)["refusedenv"] ?? "",
        /could not set environment variable "OTHER": ssh: setenv failed/,
      );
      assert.equal(existsSync("/tmp/never"), false);
    });
  });
}

describe("the stand-in and the vendor's plugin", {
  skip: noSshd ?? (vendor.folder === undefined ? "the vendor's plugin is not here: NOTHING TO COMPARE WITH" : false),
}, () => {
  test("leave the same state", () => {
    const [ours, theirs] = [comparable(seen["stand-in"] as Seen), comparable(seen["vendor's plugin"] as Seen)];
    assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort());
    for (const name of Object.keys(theirs)) assert.deepEqual(ours[name], theirs[name], name);
  });
  test("do the same operations", () => {
    for (const run of ["created", "again", "preview", "changed", "destroyed"] as const) {
      assert.deepEqual(
        operations((seen["stand-in"] as Seen)[run]),
        operations((seen["vendor's plugin"] as Seen)[run]),
        run,
      );
    }
  });
});
