/**
 * Pulumi writes into Pulumi.<stack>.yaml: the salt of a passphrase stack, and whatever
 * `pulumi config set` sets. So that the checkout stays clean, the engine runs in a git-ignored
 * folder of its own with a copy of Pulumi.yaml, whose `main` points back to the program, and with
 * copies of the stacks' files. What differs between a copy and the committed file it was made from
 * is the user's own on this machine: it wins, key by key, and later edits of the committed file
 * still arrive.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "yaml";
import { ToolError } from "../paths.ts";
import { type Project, stackName } from "../project.ts";

export type Settings = Record<string, unknown>;

/** Whether a configured value is encrypted, or holds one that is: `config set --secret --path a.b` makes an object. */
export const isSecure = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.keys(value).join() === "secure" || Object.values(value).some(isSecure));

function configOf(settings: Settings): Settings {
  return (settings["config"] ?? {}) as Settings;
}

function mergeKeys(base: Settings, before: Settings, after: Settings): Settings {
  const merged: Settings = { ...base };
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (isDeepStrictEqual(before[key], after[key])) continue;
    if (key in after) merged[key] = after[key];
    else delete merged[key];
  }
  return merged;
}

/**
 * The committed settings with what was changed in the copy: `before` is the committed file as it
 * was when the copy was made, `copy` is the copy now.
 */
export function mergeSettings(committed: Settings, before: Settings, copy: Settings): Settings {
  const top = mergeKeys(
    { ...committed, config: undefined },
    { ...before, config: undefined },
    { ...copy, config: undefined },
  );
  const config = mergeKeys(configOf(committed), configOf(before), configOf(copy));
  delete top["config"];
  return Object.keys(config).length > 0 ? { ...top, config } : top;
}

/** Texts that the engine, with rules of YAML 1.1, would take for a number or a time ("2026-01-02") keep their quotes. */
export const asYaml = (settings: Settings): string => stringify(settings, { compat: "yaml-1.1" });

function read(file: string): Settings {
  if (!existsSync(file)) return {};
  try {
    return (parse(readFileSync(file, "utf8")) ?? {}) as Settings;
  } catch (error) {
    throw new ToolError(`${file} is not valid YAML: ${(error as Error).message.split("\n")[0]}`);
  }
}

function write(file: string, text: string): void {
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 });
  renameSync(`${file}.${process.pid}`, file);
}

const stackFile = /^Pulumi\.(.+)\.ya?ml$/;

/** The stacks a project has a committed file for. */
export function committedStacks(project: Project): string[] {
  return readdirSync(project.root)
    .flatMap((name) => stackFile.exec(name)?.[1] ?? [])
    .sort();
}

function committedFile(project: Project, stack: string): string {
  const names = [`Pulumi.${stack}.yaml`, `Pulumi.${stack}.yml`].map((name) => join(project.root, name));
  return names.find((file) => existsSync(file)) ?? names[0] ?? "";
}

function syncProject(project: Project): void {
  const settings = read(join(project.root, "Pulumi.yaml"));
  const main = typeof settings["main"] === "string" ? settings["main"] : ".";
  const back = isAbsolute(main) ? main : relative(project.work, join(project.root, main));
  write(
    join(project.work, "Pulumi.yaml"),
    `# Made from ../../Pulumi.yaml at every run; edit that one.\n${asYaml({ ...settings, main: back })}`,
  );
}

/** Brings the copies up to date with the committed files. */
export function syncStackFiles(project: Project): void {
  const committedCopies = join(project.work, ".committed");
  mkdirSync(committedCopies, { recursive: true, mode: 0o700 });
  syncProject(project);
  const known = readdirSync(project.work).flatMap((name) => stackFile.exec(name)?.[1] ?? []);
  for (const stack of new Set([...committedStacks(project), ...known])) {
    const [copyFile, beforeFile] = [
      join(project.work, `Pulumi.${stack}.yaml`),
      join(committedCopies, `Pulumi.${stack}.yaml`),
    ];
    const committed = read(committedFile(project, stack));
    const hasCopy = existsSync(copyFile);
    const before = hasCopy ? read(beforeFile) : {};
    if (hasCopy && isDeepStrictEqual(committed, before)) continue;
    write(copyFile, asYaml(mergeSettings(committed, before, hasCopy ? read(copyFile) : {})));
    write(beforeFile, asYaml(committed));
  }
}

/** Forgets what was set on this machine for a stack that is removed. */
export function forgetStackFile(project: Project, stack: string): void {
  for (const folder of [project.work, join(project.work, ".committed")]) {
    rmSync(join(folder, `Pulumi.${stackName(stack)}.yaml`), { force: true });
  }
}
