/**
 * Ctrl-C and a killed engine, on the stand-in alone: the vendor's plugin doesn't end a running SSH
 * session when it is told to cancel.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { lockFolder } from "../../tools/project.ts";
import { until } from "../tools/project.ts";
import { sshdMissing, startSshd } from "./sshd.ts";
import { type Resource, standIn, TestStack } from "./stack.ts";

/** The processes of this test: their command line holds its folder. */
function running(marker: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return line.includes(marker) ? [line] : [];
      } catch {
        return [];
      }
    });
}

const noSshd = await sshdMissing();

for (const how of ["Ctrl-C", "kill -9 of the engine"] as const) {
  test(`${how} ends local commands, their children and remote sessions`, { skip: noSshd ?? false }, async (t) => {
    const sshd = await startSshd();
    t.after(() => sshd.stop());
    const stack = new TestStack(standIn);
    const { root, project } = stack.scratch;
    t.after(() => stack.scratch.remove());
    const connection = { host: "127.0.0.1", port: sshd.port, privateKey: sshd.privateKey, hostKey: sshd.hostKey };
    // sshd closes the session's pipes but kills nothing: what notices that (tail does) ends.
    const hold = (name: string) => `touch ${root}/${name}; tail -f ${root}/${name}`;
    const resources: Resource[] = [
      { type: "local.Command", name: "local", args: { create: `(${hold("child")}) & ${hold("local")}` } },
      { type: "remote.Command", name: "remote", args: { connection, create: hold("remote") } },
    ];
    const abort = new AbortController();
    const run = stack.run(["up", "--yes", "--skip-preview"], resources, abort.signal);
    await until("all of them run", () => ["child", "local", "remote"].every((name) => existsSync(join(root, name))));
    if (how === "Ctrl-C") {
      abort.abort();
    } else {
      const folder = lockFolder(project, "dev") ?? "";
      const lock = readdirSync(folder).find((name) => name.endsWith(".json")) ?? "";
      process.kill((JSON.parse(readFileSync(join(folder, lock), "utf8")) as { pid: number }).pid, "SIGKILL");
    }
    const { code } = await run;
    assert.notEqual(code, 0);
    await until("nothing is left", () => running(`tail -f ${root}/`).length === 0);
    if (how === "Ctrl-C")
      assert.equal(readdirSync(lockFolder(project, "dev") ?? "").filter((name) => name.endsWith(".json")).length, 0);
  });
}
