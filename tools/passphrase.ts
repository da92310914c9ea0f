/** Which passphrase is in force, and whether it is the one that a stack's secrets were encrypted with. */
import { createDecipheriv, pbkdf2Sync } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { type Project, stackName } from "./project.ts";

/**
 * Whether a passphrase belongs to a stack's `encryptionsalt`, as Pulumi checks it: "v1:SALT:v1:NONCE:TEXT", where TEXT
 * is AES-256-GCM of a known word under PBKDF2-SHA256 of the passphrase with a million rounds. Takes about half a second.
 */
export function fits(passphrase: string, encryptionsalt: string): boolean {
  const [version, salt, , nonce, text] = encryptionsalt.split(":");
  if (version !== "v1" || !salt || !nonce || !text) return false;
  const key = pbkdf2Sync(passphrase, Buffer.from(salt, "base64"), 1_000_000, 32, "sha256");
  const sealed = Buffer.from(text, "base64");
  const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64"));
  decipher.setAuthTag(sealed.subarray(-16));
  try {
    decipher.update(sealed.subarray(0, -16));
    decipher.final();
    return true;
  } catch {
    return false;
  }
}

const firstLine = (file: string): string => readFileSync(file, "utf8").trim();

/** What the engine will use, and how a user calls it; undefined when that cannot be read. */
function inForce(project: Project, environment: NodeJS.ProcessEnv): { passphrase: string; name: string } | undefined {
  const given = environment["PULUMI_CONFIG_PASSPHRASE"];
  if (given !== undefined) return { passphrase: given, name: "PULUMI_CONFIG_PASSPHRASE" };
  const file = environment["PULUMI_CONFIG_PASSPHRASE_FILE"];
  if (file)
    return existsSync(file)
      ? { passphrase: firstLine(file), name: `PULUMI_CONFIG_PASSPHRASE_FILE (${file})` }
      : undefined;
  const own = join(project.private, "passphrase");
  return existsSync(own) ? { passphrase: firstLine(own), name: "the generated one, .meshbench/passphrase" } : undefined;
}

/** One sentence about a passphrase that is not the stack's; undefined when it is, or when none is asked for. */
export function passphraseProblem(
  project: Project,
  stack: string,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const file = join(project.work, `Pulumi.${stackName(stack)}.yaml`);
  const settings = existsSync(file) ? (parse(readFileSync(file, "utf8")) as { encryptionsalt?: string } | null) : null;
  const used = inForce(project, environment);
  if (!settings?.encryptionsalt || !used || fits(used.passphrase, settings.encryptionsalt)) return undefined;
  const generated = join(project.private, "passphrase");
  const ours = existsSync(generated) && fits(firstLine(generated), settings.encryptionsalt);
  return `passphrase of stack ${stack}: ${used.name}; expected ${
    ours
      ? "the generated one, .meshbench/passphrase, which encrypted it: unset PULUMI_CONFIG_PASSPHRASE and PULUMI_CONFIG_PASSPHRASE_FILE"
      : "the one that encrypted it: set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to that"
  }`;
}
