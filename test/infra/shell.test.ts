/** The pieces of bash that steps are made of, run for real in a folder of their own. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { ensurePackages as installed } from "../../harness/servers/debian.ts";
import { ensurePackages, QUIET_SCRIPT } from "../../infra/packages.ts";
import { heredoc, writeFile } from "../../infra/scripts.ts";
import { asRoot, shellQuote } from "../../infra/shell.ts";

const dir = mkdtempSync(join(tmpdir(), "meshbench-shell-"));
after(() => rmSync(dir, { recursive: true, force: true }));

function bash(
  script: string,
  input = "",
  env: Record<string, string> = {},
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync("bash", ["-c", `set -euo pipefail\n${script}`], {
    input,
    encoding: "utf8",
    cwd: dir,
    env: { ...process.env, ...env },
  });
}

/** As the command provider runs a step: the command line by a shell, the rest on stdin. */
function step(script: string, input?: string): { status: number | null; stdout: string; stderr: string } {
  const call = asRoot("step", script, false, input);
  return spawnSync("sh", ["-c", call.command], { input: call.stdin, encoding: "utf8", cwd: dir });
}

/** Any text that a file on a node could hold; a shell knows no NUL. */
const text = fc.string({ unit: "grapheme", maxLength: 200 }).filter((s) => !s.includes("\0"));
const nasty = fc.oneof(
  text,
  fc.constantFrom(
    "$HOME `id` $(id) \\ \" ' !",
    "END_OF_FILE",
    "END_OF_FILE\nEND_OF_FILE_\n",
    "a\n\n\n",
    "",
    "EOF",
    "\\\n",
    "%s %d\n",
  ),
);

test("a quoted text reaches a program as it is", () => {
  fc.assert(
    fc.property(nasty, (value) => {
      assert.equal(bash(`printf '%s' ${shellQuote(value)}`).stdout, value);
    }),
    { numRuns: 50 },
  );
});

test("a here-document gives back any text, with one line break at its end", () => {
  fc.assert(
    fc.property(nasty, (value) => {
      assert.equal(bash(`cat ${heredoc(value)}`).stdout, value.endsWith("\n") ? value : `${value}\n`);
    }),
    { numRuns: 50 },
  );
});

test("a file is written whole, with its mode, and says whether it changed", () => {
  const path = join(dir, "etc/deep/it's a file.conf");
  const write = (content: string, mode?: string): string =>
    bash(`changed=0\n${writeFile(path, content, mode)}\necho $changed`).stdout.trim();
  assert.equal(write("one\n"), "1");
  assert.equal(readFileSync(path, "utf8"), "one\n");
  assert.equal(statSync(path).mode & 0o777, 0o644);
  assert.equal(write("one\n"), "0", "the same content is no change");
  assert.equal(write("two\n", "0600"), "1");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(dir, "etc/deep")), ["it's a file.conf"], "no half-written file stays");
});

test("a file that will be private is at no moment readable by others", () => {
  const path = join(dir, "private/key");
  const script = writeFile(path, "secret\n", "0600");
  // The mode that the new file has before chmod, and the caller's umask afterwards.
  const seen = bash(
    `umask 022; changed=0\n${script.replace(`chmod 0600`, `stat -c %a ${path}.new; chmod 0600`)}\numask`,
  );
  assert.equal(seen.stdout, "600\n0022\n");
});

test("packages that are there are not installed again, and missing ones are named", () => {
  const fake = join(dir, "bin");
  mkdirSync(fake);
  writeFileSync(join(fake, "dpkg-query"), '#!/bin/bash\n[ "$3" = there ] && echo installed\n');
  writeFileSync(join(fake, "apt-get"), `#!/bin/bash\necho "$@" >> ${dir}/apt.log\n`);
  for (const name of readdirSync(fake)) chmodSync(join(fake, name), 0o755);
  const path = { PATH: `${fake}:${process.env["PATH"]}` };

  assert.deepEqual(bash(ensurePackages(["there"]), "", path).stderr, "");
  assert.equal(existsSync(join(dir, "apt.log")), false, "nothing to do, nothing asked");

  const ran = bash(ensurePackages(["there", "absent", "absent-too"]), "", path);
  assert.equal(ran.status, 0, ran.stderr);
  assert.equal(ran.stderr, "installing absent absent-too\n");
  const calls = readFileSync(join(dir, "apt.log"), "utf8").trim().split("\n");
  assert.equal(calls.length, 2);
  assert.match(calls[0]!, / update$/);
  assert.match(calls[1]!, / install -y --no-install-recommends absent absent-too$/);

  writeFileSync(join(fake, "apt-get"), '#!/bin/bash\necho "E: no such package" >&2; exit 100\n');
  const failed = bash(`${ensurePackages(["absent"])}\necho "never here"`, "", path);
  assert.notEqual(failed.status, 0);
  assert.match(failed.stderr, /E: no such package/);
  assert.match(failed.stderr, /apt-get could not install absent/);
  assert.doesNotMatch(failed.stdout, /never here/);
});

/** A machine whose apt-get is this script; nothing is installed on it. */
function machine(name: string, aptGet: string): { folder: string; env: Record<string, string> } {
  const folder = join(dir, name);
  mkdirSync(join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "bin", "dpkg-query"), "#!/bin/bash\nexit 1\n");
  writeFileSync(join(folder, "bin", "apt-get"), `#!/bin/bash\ncd ${folder}\n${aptGet}\n`);
  writeFileSync(join(folder, "bin", "dpkg"), `#!/bin/bash\ncd ${folder}; echo "$@" >> dpkg; rm -f broken\n`);
  for (const program of readdirSync(join(folder, "bin"))) chmodSync(join(folder, "bin", program), 0o755);
  return { folder, env: { PATH: `${join(folder, "bin")}:${process.env["PATH"]}` } };
}

test("package work waits while the distribution's own jobs hold apt's locks, of every kind", () => {
  for (const line of [
    "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 812 (apt-get)",
    "E: Could not get lock /var/cache/apt/archives/lock. It is held by process 812 (unattended-upgr)",
    "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
    "dpkg: error: dpkg frontend lock was locked by another process with pid 812",
  ]) {
    const { folder, env } = machine(
      "locked",
      `echo x >> calls; if [ "$(grep -c x calls)" = 1 ]; then echo "${line}" >&2; exit 100; fi`,
    );
    rmSync(join(folder, "calls"), { force: true });
    const ran = bash(ensurePackages(["absent"]), "", env);
    assert.equal(ran.status, 0, `${line}\n${ran.stderr}`);
    assert.match(ran.stderr, /waiting for (process 812 \(\S+\)|somebody else's package work)\n$/);
    assert.equal(readFileSync(join(folder, "calls"), "utf8"), "x\nx\nx\n", "update twice, install once");
  }
});

test("what an interrupted dpkg left is put right, once", () => {
  const apt = `[ ! -e broken ] || { echo "E: dpkg was interrupted, you must manually run 'dpkg --configure -a'" >&2; exit 100; }`;
  const { folder, env } = machine("interrupted", apt);
  writeFileSync(join(folder, "broken"), "");
  assert.equal(bash(ensurePackages(["absent"]), "", env).status, 0);
  assert.equal(readFileSync(join(folder, "dpkg"), "utf8"), "--configure -a\n");
  const never = machine("broken for good", apt.replace("[ ! -e broken ] || ", ""));
  assert.match(
    bash(ensurePackages(["absent"]), "", never.env).stderr,
    /dpkg was interrupted.*\n.*could not install absent\n$/,
  );
});

test("steps side by side on one node do their package work one after the other", async () => {
  // As apt itself: whoever comes while another runs is refused. Without the lock most of these are.
  const { env } = machine(
    "shared",
    `mkdir busy 2>/dev/null || { echo "E: Something is at work" >&2; exit 100; }; sleep 0.1; rmdir busy`,
  );
  const codes = await Promise.all(
    [1, 2, 3, 4].map(
      (n) =>
        new Promise<number | null>((resolve) =>
          spawn("bash", ["-c", `set -euo pipefail\n${ensurePackages([`absent-${n}`])}`], {
            env: { ...process.env, ...env },
            stdio: "ignore",
          }).once("close", resolve),
        ),
    ),
  );
  assert.deepEqual(codes, [0, 0, 0, 0]);
});

test("jobs of the distribution are masked and told to end, once", () => {
  const folder = join(dir, "quiet");
  mkdirSync(folder);
  writeFileSync(
    join(folder, "systemctl"),
    `#!/bin/bash
cd ${folder}
case "$1" in
  list-unit-files) printf 'apt-daily.timer %s enabled\nman-db.timer masked enabled\n' "$(cat masked 2>/dev/null || echo enabled)" ;;
  mask) echo masked > masked; echo "$@" >> calls ;;
  *) echo "$@" >> calls ;;
esac\n`,
  );
  chmodSync(join(folder, "systemctl"), 0o755);
  for (let i = 0; i < 2; i++)
    assert.equal(bash(QUIET_SCRIPT, "", { PATH: `${folder}:${process.env["PATH"]}` }).status, 0);
  assert.equal(
    readFileSync(join(folder, "calls"), "utf8"),
    "mask --quiet apt-daily.timer\nstop --no-block apt-daily.timer\n",
  );
});

test("a step's script comes on stdin in front of the step's own input, of any length and any characters", () => {
  const input = `pässword\n${"x".repeat(200_000)}\nend`;
  const ran = step('read -r first; rest=$(cat); echo "$first ${#rest} ${rest: -3} µ"', input);
  assert.equal(ran.stderr, "");
  assert.equal(ran.stdout, "pässword 200004 end µ\n");
});

test("a failing command in the middle of a step ends it", () => {
  const ran = step("echo before; false; echo after");
  assert.notEqual(ran.status, 0);
  assert.equal(ran.stdout, "before\n");
  const unset = step('echo "$nowhere"; echo after');
  assert.notEqual(unset.status, 0);
  assert.equal(unset.stdout, "");
});

test("neither script nor input stands in the command line that an error would show", () => {
  const { command } = asRoot("east-1-galera", "password=hunter2", false, "hunter2");
  assert.doesNotMatch(command, /hunter2/);
  assert.match(command, / east-1-galera \|\| /);
  assert.match(asRoot("x", "true", true).command, /^sudo -n bash -c /);
});

test("a step runs whatever the login shell is", async (t) => {
  const shells = await installed(["fish", "tcsh"]);
  if (!shells.ok) return t.skip(`fish and tcsh cannot be had: ${shells.reason}`);
  const call = asRoot("step", 'read -r first; echo "$first!"; [ "$first" = pässword ]', false, "pässword\n");
  for (const shell of ["sh", "bash", "fish", "tcsh"]) {
    const ran = spawnSync(shell, ["-c", call.command], { input: call.stdin, encoding: "utf8", cwd: dir });
    assert.deepEqual([ran.status, ran.stdout, ran.stderr], [0, "pässword!\n", ""], shell);
    const slow = asRoot("east-1-slow", "sleep 60", false, "", 1);
    const ended = spawnSync(shell, ["-c", slow.command], { input: slow.stdin, encoding: "utf8", timeout: 20_000 });
    assert.deepEqual([ended.status, ended.stderr], [124, "east-1-slow did not end within 1 s\n"], shell);
  }
});

test("a step that does not end is ended with what it started, and says so", () => {
  const { command, stdin } = asRoot("east-1-slow", "sleep 60 & sleep 60", false, "", 1);
  const ran = spawnSync("bash", ["-c", command], { input: stdin, encoding: "utf8", timeout: 20_000 });
  assert.equal(ran.status, 124);
  assert.equal(ran.stderr, "east-1-slow did not end within 1 s\n");
});
