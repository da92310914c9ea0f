import { randomBytes } from "node:crypto";
import type { CommandOutputs, LocalInputs } from "./local.ts";
import type { Log } from "./log.ts";
import type { RemoteInputs } from "./remote.ts";
import type { ResourceType } from "./resources.ts";
import { assetSource, isObject, plainObject, unknown, type Value, type Values } from "./values.ts";

/** What one call of the engine is about. */
export interface Call {
  type: ResourceType;
  name: string;
  preview: boolean;
  log: Log;
  signal: AbortSignal;
}

function text(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}

/** A null is a property that isn't there. */
function withoutNulls(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, isObject(value) ? withoutNulls(value) : value]),
  );
}

async function run(
  command: Value | undefined,
  inputs: Values,
  previous: CommandOutputs,
  call: Call,
): Promise<CommandOutputs> {
  if (typeof command !== "string") return previous;
  const opened = withoutNulls(plainObject(inputs));
  // Loaded when first needed: ssh2 takes longer to load than the rest of this program.
  if (call.type === "command:local:Command") {
    const { runLocal } = await import("./local.ts");
    return runLocal(command, opened as LocalInputs, previous, call.log, call.signal);
  }
  const { runRemote } = await import("./remote.ts");
  return runRemote(command, opened as unknown as RemoteInputs, previous, call.log, call.signal);
}

async function copy(inputs: Values, call: Call): Promise<void> {
  const opened = withoutNulls(plainObject(inputs));
  const source = assetSource(opened["source"]);
  if (source === undefined) throw new Error("source must be a FileAsset, a StringAsset or a FileArchive");
  const { copyToRemote } = await import("./copy.ts");
  const { connection } = opened as unknown as RemoteInputs;
  await copyToRemote(source, text(opened["remotePath"]), connection, call.log, call.signal);
}

export async function create(inputs: Values, call: Call): Promise<{ id: string; outputs: Values }> {
  const suffix = randomBytes(4).toString("hex");
  if (call.type === "command:remote:CopyToRemote") {
    if (!call.preview) await copy(inputs, call);
    return { id: suffix, outputs: inputs };
  }
  const id = call.name + suffix;
  if (call.preview) return { id, outputs: { ...inputs, stdout: unknown, stderr: unknown } };
  const command = plainObject(inputs)["create"];
  return { id, outputs: { ...inputs, ...(await run(command, inputs, { stdout: "", stderr: "" }, call)) } };
}

export async function update(inputs: Values, state: Values, call: Call): Promise<Values> {
  const [news, olds] = [plainObject(inputs), plainObject(state)];
  if (call.type === "command:remote:CopyToRemote") {
    const changed =
      news["remotePath"] !== olds["remotePath"] ||
      assetSource(news["source"])?.hash !== assetSource(olds["source"])?.hash;
    if (changed && !call.preview) await copy(inputs, call);
    return inputs;
  }
  if (call.preview) return { ...inputs, stdout: unknown, stderr: unknown };
  const previous = { stdout: text(olds["stdout"]), stderr: text(olds["stderr"]) };
  return { ...inputs, ...(await run(news["update"] ?? news["create"], inputs, previous, call)) };
}

export async function remove(state: Values, call: Call): Promise<void> {
  if (call.type === "command:remote:CopyToRemote") return;
  const olds = plainObject(state);
  await run(olds["delete"] ?? undefined, state, { stdout: text(olds["stdout"]), stderr: text(olds["stderr"]) }, call);
}
