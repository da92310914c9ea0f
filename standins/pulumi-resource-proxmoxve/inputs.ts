/** Reads the inputs of a guest, and writes the parameters of the API. */
import type { Value, Values } from "../pulumi-resource-command/values.ts";

export type Form = Record<string, string | number>;
export const text = (value: Value | undefined): string => (value === undefined || value === null ? "" : String(value));
export const list = (value: Value | undefined): Value[] => (Array.isArray(value) ? value : []);
export const flag = (value: Value | undefined, otherwise: boolean): number =>
  Number(typeof value === "boolean" ? value : otherwise);
/** Leaves out what is not given. */
export const form = (values: Record<string, string | number | undefined>): Form =>
  Object.fromEntries(
    Object.entries(values).filter((e): e is [string, string | number] => e[1] !== undefined && e[1] !== ""),
  );
export const options = (values: Record<string, string | number | undefined>): string =>
  Object.entries(form(values))
    .map(([k, v]) => `${k}=${v}`)
    .join(",");

/** A run that is killed now knows nothing of a guest that the host has. */
export async function maybeHang(name: string): Promise<void> {
  if ((process.env["MESHBENCH_STANDIN_HANG"] ?? "").split(",").includes(name))
    await new Promise((resolve) => setTimeout(resolve, 600_000));
}

/** Which site of the laboratory a guest stands in: this project tags its guests with it. */
export function siteOf(inputs: Values): string {
  const tag = list(inputs["tags"])
    .map(text)
    .find((t) => t.startsWith("site-"));
  if (tag === undefined) throw new Error("this stand-in needs a tag site-<name> to know where its machine stands");
  return tag.slice("site-".length);
}

/** The guest's name without the stack's: the laboratory has the stack to itself. */
export function machineName(name: string, inputs: Values): string {
  const stack = list(inputs["tags"])
    .map(text)
    .find((t) => t.startsWith("stack-"))
    ?.slice("stack-".length);
  return stack !== undefined && name.startsWith(`${stack}-`) ? name.slice(stack.length + 1) : name;
}
