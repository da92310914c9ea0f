/**
 * Secrets that the operator's side makes once per stack and keeps, encrypted, in the state: the SSH key and passwords.
 */

import { local } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";

/** Prints {"private","public"}. The key pair touches the disk only inside a directory that is gone at the end. */
const SSH_KEY_SCRIPT = `
umask 077
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ssh-keygen -q -t ed25519 -N "" -C "$MESHBENCH_COMMENT" -f "$dir/key" </dev/null
awk 'BEGIN{ORS="\\\\n"} {print}' "$dir/key" | sed 's/^/{"private":"/; s/$/",/' | tr -d '\\n'
printf '"public":"%s"}' "$(cat "$dir/key.pub")"`;

const PASSWORD_SCRIPT = "head -c 24 /dev/urandom | base64 | tr '+/' '-_' | tr -d '\\n='";

export interface OperatorKey {
  privateKey: pulumi.Output<string>;
  publicKey: pulumi.Output<string>;
}

export function operatorKey(name: string, comment: string, opts?: pulumi.CustomResourceOptions): OperatorKey {
  const made = once(name, SSH_KEY_SCRIPT, { MESHBENCH_COMMENT: comment }, opts);
  const pair = made.apply((text) =>
    text ? (JSON.parse(text) as { private: string; public: string }) : { private: "", public: "" },
  );
  return { privateKey: pulumi.secret(pair.private), publicKey: pulumi.unsecret(pair.public) };
}

/** GNU's date, or that of macOS and the BSDs, which knows no -d with a distance. Prints UTC, to the second. */
export const expiryScript = (hours: number): string =>
  `date -u -d '+${hours} hours' +%Y-%m-%dT%H:%M:%SZ 2>/dev/null || date -u -v+${hours}H +%Y-%m-%dT%H:%M:%SZ`;

/** When the stack counts as a leftover, UTC; fixed at its creation, so that a later `up` changes nothing. */
export function expiry(hours: number): pulumi.Output<string> {
  return new local.Command("expiry", {
    create: expiryScript(hours),
    logging: "none",
    addPreviousOutputInEnv: false,
  }).stdout;
}

/**
 * 32 characters of the URL-safe alphabet: 192 bits, and nothing that a shell, SQL or a config file would have to quote.
 */
export function password(name: string, opts?: pulumi.CustomResourceOptions): pulumi.Output<string> {
  return pulumi.secret(once(name, PASSWORD_SCRIPT, {}, opts));
}

function once(
  name: string,
  script: string,
  environment: Record<string, string>,
  opts?: pulumi.CustomResourceOptions,
): pulumi.Output<string> {
  return new local.Command(
    name,
    {
      create: script,
      environment,
      interpreter: ["/bin/bash", "-euo", "pipefail", "-c"],
      logging: "none",
      addPreviousOutputInEnv: false,
    },
    { ...opts, additionalSecretOutputs: ["stdout", "stderr"], ignoreChanges: ["create", "environment", "interpreter"] },
  ).stdout;
}
