/** What a new node's disk holds that its image does not. Written below the overlay before it is mounted. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { nodeDirectories } from "./boot.ts";
import { LabError, run, tryRun } from "./run.ts";
import type { NodeRequest } from "./schema.ts";

interface DiskFile {
  path: string;
  text: string;
  mode?: number;
}

/** The files of a node, as a pure function of what was asked for. */
export function diskFiles(
  request: NodeRequest,
  address: string,
  keys: { private: string; public: string },
  machineId: string,
): DiskFile[] {
  const { name, bare } = request;
  const files: DiskFile[] = [
    { path: "etc/hostname", text: `${name}\n` },
    { path: "etc/hosts", text: `127.0.0.1 localhost\n${address} ${name}\n` },
    { path: "etc/machine-id", text: `${machineId}\n`, mode: 0o444 },
    // A cloud's image has none: cloud-init makes them, of all types.
    ...(bare
      ? [
          {
            path: "etc/cloud/cloud.cfg.d/01_debian_cloud.cfg",
            text: `system_info: {default_user: {name: ${bare.user}, gecos: Debian, lock_passwd: true, sudo: ["ALL=(ALL) NOPASSWD:ALL"], shell: /bin/bash}}\n`,
          },
        ]
      : [
          { path: "etc/ssh/ssh_host_ed25519_key", text: keys.private, mode: 0o600 },
          { path: "etc/ssh/ssh_host_ed25519_key.pub", text: `${keys.public}\n` },
        ]),
    {
      path: "root/.ssh/authorized_keys",
      text: request.authorizedKeys.map((key) => `${key.trim()}\n`).join(""),
      mode: 0o600,
    },
  ];
  if (request.userData === undefined) return [...files, { path: "etc/cloud/cloud-init.disabled", text: "" }];
  const seed = "var/lib/cloud/seed/nocloud";
  return [
    ...files,
    { path: `${seed}/user-data`, text: request.userData, mode: 0o600 },
    { path: `${seed}/meta-data`, text: `instance-id: ${machineId}\nlocal-hostname: ${name}\n` },
  ];
}

/** Directories whose mode differs from 0755: an overlay's upper directory decides over the image's. */
const DIRECTORY_MODES: Record<string, number> = {
  root: 0o700,
  "root/.ssh": 0o700,
  "var/lib/cloud/seed/nocloud": 0o700,
};

/** With exactly this mode, whatever the caller's umask is. */
async function makeDirectory(path: string, mode: number): Promise<void> {
  await mkdir(path, { recursive: true, mode });
  await chmod(path, mode);
}

/** Makes the node's disk. @returns its public host key, "ssh-ed25519 AAAA...". */
export async function makeDisk(request: NodeRequest, address: string): Promise<string> {
  const { base, upper, work, root } = nodeDirectories(request.lab, request.name);
  for (const directory of [upper, work, root]) {
    await rm(directory, { recursive: true, force: true });
    await makeDirectory(directory, 0o755);
  }
  const keys = await hostKeys(base, request.hostKeyPrivate);
  for (const { path, text, mode } of diskFiles(request, address, keys, randomBytes(16).toString("hex"))) {
    let parent = "";
    for (const part of dirname(path).split("/")) {
      parent = join(parent, part);
      await makeDirectory(join(upper, parent), DIRECTORY_MODES[parent] ?? 0o755);
    }
    await writeFile(join(upper, path), text, { mode: mode ?? 0o644 });
    await chmod(join(upper, path), mode ?? 0o644);
  }
  return keys.public;
}

async function hostKeys(directory: string, given: string | undefined): Promise<{ private: string; public: string }> {
  const path = join(directory, "host_key");
  await rm(path, { force: true });
  await rm(`${path}.pub`, { force: true });
  try {
    if (given === undefined) await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path]);
    else {
      await writeFile(path, given.endsWith("\n") ? given : `${given}\n`, { mode: 0o600 });
      const result = await tryRun("ssh-keygen", ["-y", "-P", "", "-f", path]);
      if (result.code !== 0 || !result.stdout.startsWith("ssh-ed25519 "))
        throw new LabError("hostKeyPrivate: an unencrypted ed25519 key in OpenSSH's format is expected");
      await writeFile(`${path}.pub`, result.stdout);
    }
    const [type, key] = (await readFile(`${path}.pub`, "utf8")).trim().split(" ");
    return { private: await readFile(path, "utf8"), public: `${type} ${key}` };
  } finally {
    await rm(path, { force: true });
    await rm(`${path}.pub`, { force: true });
  }
}
