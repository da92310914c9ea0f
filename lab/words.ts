/** What the commands take and print: their options, JSON on stdin and stdout, the list of labs. */
import { text } from "node:stream/consumers";
import { InvalidArgumentError, Option } from "commander";
import type { z } from "zod";
import type { Debian } from "./image/mirror.ts";
import type { LabSummary } from "./leftovers.ts";
import { LabError } from "./run.ts";
import { labName, nodeName, parse } from "./schema.ts";

export const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);

export async function readInput<T extends z.ZodType>(schema: T, what: string): Promise<z.output<T>> {
  const input = await text(process.stdin);
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch (error) {
    throw new LabError(
      `${what}: JSON is expected on stdin (${input.trim() ? (error as Error).message : "nothing came"})`,
    );
  }
  return parse(schema, value, what);
}

export const seconds = (given: string) => {
  const value = Number(given);
  if (!(value >= 0 && value <= 1800) || given.trim() === "")
    throw new InvalidArgumentError("A number of seconds from 0 to 1800 is expected.");
  return value;
};
export const figure = (given: string) => {
  const value = Number(given);
  if (!(value >= 0) || given.trim() === "") throw new InvalidArgumentError("A number from 0 up is expected.");
  return value;
};
export const lab = () =>
  new Option("--lab <lab>", "name of the lab")
    .argParser((value) => parse(labName, value, "--lab"))
    .makeOptionMandatory();
export const node = () =>
  new Option("--name <node>", "name of the node")
    .argParser((value) => parse(nodeName, value, "--name"))
    .makeOptionMandatory();

export const release = () =>
  new Option("--debian <release>", "12, 13, sid, which has MySQL, or patroni, which is 12 with Patroni and etcd")
    .argParser((value) => {
      if (value === "sid" || value === "patroni") return value;
      if (value !== "12" && value !== "13") throw new InvalidArgumentError("12, 13, sid or patroni is expected.");
      return Number(value) as Debian;
    })
    .default(12);

export const bare = () =>
  new Option("--bare", "the one that is as a cloud's image comes, with an archive of packages beside it");

export function describeLab({ lab: name, block, sites, nodes: members, relayRunning }: LabSummary): string {
  const head = `${name}  ${block}  ${sites.length} sites  ${members.length} nodes${relayRunning ? "" : "  (relay not running)"}`;
  const lines = members.map((member) => {
    const state = member.state === "creating" ? "incomplete" : member.running ? "running" : "down";
    const expiry = member.labels.expires ? `  expires ${member.labels.expires}${member.expired ? " (past)" : ""}` : "";
    return `  ${member.name}  ${member.site}  ${member.address}  ${state}${expiry}`;
  });
  return [head, ...lines].join("\n");
}
