/** Keys of the operator's own, from files on the operator's machine. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import ssh2 from "ssh2";
import { ConfigError } from "../config/errors.ts";
import type { JumpHost } from "../config/sites/common.ts";
import { checkout } from "../paths.ts";

/** `key` is how the configuration calls it; relative paths are meant from the project's root. */
export function readPrivateKey(path: string, key: string): pulumi.Output<string> {
  const file = resolve(checkout, path.replace(/^~(?=\/|$)/, homedir()));
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError([
      `${key}: "${path}", which cannot be read (${(error as NodeJS.ErrnoException).code}); expected a private key file without a passphrase`,
    ]);
  }
  if (!/PRIVATE KEY-----/.test(text))
    throw new ConfigError([`${key}: "${path}", which holds no private key; expected the file without .pub`]);
  // Whether a key in OpenSSH's own format is encrypted stands inside of it, in base64.
  const parsed = ssh2.utils.parseKey(text);
  if (parsed instanceof Error)
    throw new ConfigError([
      /encrypted/i.test(parsed.message)
        ? `${key}: "${path}" is encrypted; expected a private key file without a passphrase (\`ssh-keygen -p -N '' -f COPY\` takes it off a copy)`
        : `${key}: "${path}" cannot be used (${parsed.message}); expected a private key in OpenSSH's format (\`ssh-keygen -t ed25519\` makes one)`,
    ]);
  return pulumi.secret(text);
}

/** The command provider's `proxy`; undefined without a jump host. */
export function jumpConnection(jump: JumpHost | undefined, key: string) {
  if (jump === undefined) return undefined;
  const { host, port, user, hostKey } = jump;
  return { host, port, user, hostKey, privateKey: readPrivateKey(jump.privateKeyFile, `${key}.jump.privateKeyFile`) };
}
