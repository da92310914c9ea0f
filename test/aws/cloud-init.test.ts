import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parse } from "yaml";
import { cloudInit, USER_DATA_LIMIT } from "../../infra/sites/cloud-init.ts";

const hostKey = {
  private: "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\nBBBB\n-----END OPENSSH PRIVATE KEY-----\n",
  public: "ssh-ed25519 CCCC host",
};

test("user data, word by word", () => {
  assert.equal(
    cloudInit({
      user: "admin",
      authorizedKeys: ["ssh-ed25519 DDDD operator"],
      hostname: "east-1",
      hostKey,
      packages: ["curl"],
    }),
    `#cloud-config
hostname: east-1
preserve_hostname: false
manage_etc_hosts: localhost
locale: C.UTF-8
timezone: Etc/UTC
users:
  - name: admin
    shell: /bin/bash
    lock_passwd: true
    sudo: ALL=(ALL) NOPASSWD:ALL
    ssh_authorized_keys:
      - ssh-ed25519 DDDD operator
disable_root: true
ssh_pwauth: false
ssh_deletekeys: true
ssh_keys:
  ed25519_private: |
    -----BEGIN OPENSSH PRIVATE KEY-----
    AAAA
    BBBB
    -----END OPENSSH PRIVATE KEY-----
  ed25519_public: ssh-ed25519 CCCC host
package_update: true
packages:
  - curl
`,
  );
});

test("without a host key or packages nothing is said about them; root is a user like another", () => {
  const settings = parse(
    cloudInit({ user: "root", authorizedKeys: ["ssh-ed25519 DDDD"], hostname: "home-1" }),
  ) as Record<string, unknown>;
  for (const key of ["ssh_keys", "ssh_deletekeys", "packages", "package_update"]) assert.ok(!(key in settings), key);
  assert.equal(settings["disable_root"], false);
  assert.deepEqual(settings["users"], [{ name: "root", ssh_authorized_keys: ["ssh-ed25519 DDDD"] }]);
});

test("any text in a key or comment comes through as it was, within EC2's limit", () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 200 }),
      fc.array(fc.string({ minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 4 }),
      (comment, keys) => {
        const text = cloudInit({
          user: "admin",
          authorizedKeys: keys,
          hostname: "n",
          hostKey: { private: `a\n${comment}\n`, public: comment },
        });
        const back = parse(text) as { users: { ssh_authorized_keys: string[] }[]; ssh_keys: Record<string, string> };
        assert.deepEqual(back.users[0]!.ssh_authorized_keys, keys);
        assert.equal(back.ssh_keys["ed25519_private"], `a\n${comment}\n`);
        assert.equal(back.ssh_keys["ed25519_public"], comment);
        assert.ok(Buffer.byteLength(text) < USER_DATA_LIMIT);
      },
    ),
  );
});

test("arguments that could not work are named", () => {
  const good = { user: "admin", authorizedKeys: ["k"], hostname: "n" };
  assert.throws(() => cloudInit({ ...good, user: "Big Boss" }), /user "Big Boss"/);
  assert.throws(() => cloudInit({ ...good, hostname: "a_b" }), /hostname "a_b"/);
  assert.throws(() => cloudInit({ ...good, authorizedKeys: [] }), /no authorizedKeys/);
});
