/** Keys of the operator's own: what could not work is told before anything is made. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { checkConfig } from "../../infra/config/check.ts";
import { readPrivateKey } from "../../infra/sites/keys.ts";

const dir = mkdtempSync(join(tmpdir(), "meshbench-keys-"));
after(() => rmSync(dir, { recursive: true, force: true }));

function make(name: string, ...options: string[]): string {
  const file = join(dir, name);
  execFileSync("ssh-keygen", ["-q", "-C", "", "-f", file, ...options]);
  return file;
}

test("a private key is taken without a passphrase only, in either format", () => {
  for (const [type, format] of [
    ["ed25519", "RFC4716"],
    ["rsa", "RFC4716"],
    ["rsa", "PEM"],
  ] as const) {
    const options = ["-t", type, "-m", format];
    readPrivateKey(make(`plain-${type}-${format}`, "-N", "", ...options), "meshbench:sites[0].privateKeyFile");
    const encrypted = make(`encrypted-${type}-${format}`, "-N", "letters and 4 digits", ...options);
    assert.throws(
      () => readPrivateKey(encrypted, "meshbench:sites[0].privateKeyFile"),
      (error: Error) =>
        error.message.includes(
          `meshbench:sites[0].privateKeyFile: "${encrypted}" is encrypted; expected a private key`,
        ),
      `${type} ${format}`,
    );
  }
});

test("what is no private key is not one", () => {
  const file = join(dir, "broken");
  writeFileSync(file, "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n");
  assert.throws(() => readPrivateKey(file, "k"), /k: ".*broken" cannot be used \(/);
  assert.throws(() => readPrivateKey(`${make("public", "-t", "ed25519", "-N", "")}.pub`, "k"), /no private key/);
});

test("host keys of other types than ed25519 are refused with what to do", () => {
  for (const hostKey of ["ssh-rsa AAAA", "ecdsa-sha2-nistp256 AAAA"]) {
    const checked = checkConfig({
      sites: [{ name: "racks", kind: "ssh", nodes: 1, hosts: [{ address: "192.0.2.1", hostKey }] }],
      proxy: { kind: "none" },
    });
    assert.match(JSON.stringify(checked), /sites\[0\]\.hosts\[0\]\.hostKey.*ed25519.*ssh-keyscan -t ed25519/);
  }
});
