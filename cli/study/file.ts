/** A study file: a matrix of topologies, databases, proxies and profiles, each entry a piece of configuration. Pure. */
import { parse } from "yaml";
import { z } from "zod";
import { checkConfig } from "../../infra/config/check.ts";
import { withEnvironment } from "../../infra/config/environment.ts";
import { ambiguousScalars } from "../../infra/config/plain-scalars.ts";
import type { Config } from "../../infra/config/schema.ts";
import { splitNamespaces } from "../../infra/config/sites/aws-settings.ts";

const pieceName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,30}$/, "lower-case letters, digits and '-', at most 31");
/**
 * Any part of what stands under `meshbench:` in a stack file. `extends` names another entry of the same axis,
 * `stackFile` a
 * stack whose committed file lies below it: what a user has set there for a cloud counts in the study too.
 */
const piece = z.looseObject({ extends: pieceName.optional(), stackFile: pieceName.optional() });
const axis = z.record(pieceName, piece);

/** In this order a leg's pieces are laid over each other. */
export const AXES = ["topologies", "databases", "proxies", "profiles"] as const;

const scale = z.strictObject({
  /** Laid over every leg, last. */
  config: z.looseObject({}).default({}),
  /** Takes the place of topologies of the same name, such as local sites for clouds. */
  topologies: axis.default({}),
  repeats: z.number().int().positive().optional(),
  /** Only these entries of an axis; all when absent. */
  only: z.partialRecord(z.enum(AXES), z.array(pieceName).min(1)).default({}),
});

/** Names by axis: a cell is meant when it has each of them. */
const selection = z
  .partialRecord(z.enum(AXES), pieceName)
  .refine((s) => Object.keys(s).length > 0, "at least one of topologies, databases, proxies, profiles");

export const studySchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,30}$/, "lower-case letters, digits and '-', at most 31"),
  title: z.string().optional(),
  /** What is asked, and which published study it repeats. */
  question: z.string().optional(),
  /** A published set or study to lay the results beside, such as "000". */
  against: z.string().optional(),
  /** Which topology stands for which published set. */
  match: z.record(z.string(), z.string()).default({}),
  /** Under every leg. */
  config: z.looseObject({}).default({}),
  topologies: axis.refine((a) => Object.keys(a).length > 0, "at least one topology is needed"),
  databases: axis.default({}),
  proxies: axis.default({}),
  profiles: axis.default({}),
  /** Cells that are left out of the matrix, such as one server at every distance. */
  except: z.array(selection).default([]),
  /** How often each leg is stood up and measured anew; repeats within one stand are a profile's. */
  repeats: z.number().int().positive().max(1000).default(1),
  /**
   * given: as listed, repeat by repeat; random: shuffled by the seed within each repeat; abba: every second repeat
   * backwards.
   */
  order: z.enum(["given", "random", "abba"]).default("given"),
  seed: z.number().int().nonnegative().default(1),
  /** No leg begins that would lead beyond these. */
  limits: z
    .strictObject({ hours: z.number().positive().optional(), money: z.number().nonnegative().optional() })
    .default({}),
  scales: z.record(pieceName, scale).default({}),
});

export type Study = z.infer<typeof studySchema>;

/** One cell of the matrix, to be stood up `repeats` times. */
export interface Cell {
  /** The names of its entries on the axes that have a choice; the study's name when none has. */
  name: string;
  /** Where it stands in the matrix, from 0: reports keep this order, whatever the order of the runs. */
  place: number;
  topology: string;
  config: Config;
  /** What the stack file says. */
  raw: Record<string, unknown>;
}

export interface Leg {
  cell: Cell;
  repeat: number;
  stack: string;
}

export class StudyError extends Error {}

export function parseStudy(text: string, file: string): Study {
  let input: unknown;
  try {
    input = parse(text, { merge: true });
  } catch (error) {
    throw new StudyError(`${file}: is no valid YAML: ${(error as Error).message.split("\n")[0]}`);
  }
  const ambiguous = ambiguousScalars(text, file);
  if (ambiguous.length > 0) throw new StudyError(ambiguous.join("\n"));
  const parsed = studySchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new StudyError(
    parsed.error.issues
      .map((issue) => {
        const key = issue.path.map(String).join(".") || "the document";
        if (issue.code === "unrecognized_keys")
          return `${file}: ${key === "the document" ? "" : `${key}: `}${issue.keys.join(", ")}: unknown key; expected one of ${Object.keys(studySchema.shape).join(", ")}`;
        const given = issue.path.reduce<unknown>(
          (value, p) => (value as Record<PropertyKey, unknown> | undefined)?.[p],
          input,
        );
        return `${file}: ${key} is ${JSON.stringify(given) ?? "missing"}: ${issue.message}`;
      })
      .join("\n"),
  );
}

/** Objects are merged key by key; lists and values of `over` replace those of `base`. */
export function overlay(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const below = new Map(Object.entries(base));
  // From entries, not by assignment: a file may have a key like `__proto__`.
  return Object.fromEntries([
    ...below,
    ...Object.entries(over).map(([key, value]): [string, unknown] => {
      const under = below.get(key);
      return [key, isObject(under) && isObject(value) ? overlay(under, value) : value];
    }),
  ]);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An entry with everything that it extends below it. Throws on an unknown name and on a circle. */
export function resolvePiece(
  entries: Record<string, Record<string, unknown>>,
  name: string,
  axisName: string,
  readStack: ReadStack,
  path: string[] = [],
): Record<string, unknown> {
  if (path.includes(name))
    throw new StudyError(`${axisName}: ${[...path, name].join(" extends ")}; expected no circle`);
  const entry = entries[name];
  if (!entry)
    throw new StudyError(
      `${axisName}.${path.at(-1)}.extends: "${name}"; expected one of ${Object.keys(entries).join(", ")}`,
    );
  const { extends: parent, stackFile, ...own } = entry;
  const base = stackFile === undefined ? {} : readStack(stackFile as string);
  return overlay(
    base,
    parent === undefined
      ? own
      : overlay(resolvePiece(entries, parent as string, axisName, readStack, [...path, name]), own),
  );
}

/** What stands under `meshbench:` in a stack's committed file; throws a StudyError when there is none. */
export type ReadStack = (stack: string) => Record<string, unknown>;

/** All cells, each with its checked configuration. Throws with every problem of every cell. */
export function cellsOf(study: Study, scaleName: string | undefined, readStack: ReadStack): Cell[] {
  const scaled = scaleOf(study, scaleName);
  const axes = { ...study, topologies: { ...study.topologies, ...scaled.topologies } };
  const choices = AXES.map((name) => {
    const entries = axes[name] as Record<string, Record<string, unknown>>;
    const only = scaled.only[name];
    for (const wanted of only ?? [])
      if (!entries[wanted])
        throw new StudyError(
          `scales.${scaleName}.only.${name}: "${wanted}"; expected one of ${Object.keys(entries).join(", ")}`,
        );
    const names = Object.keys(entries).filter((n) => !only || only.includes(n));
    return names.length === 0 ? [undefined] : names;
  });
  checkExcept(study.except, axes);
  const problems: string[] = [];
  const cells = product(choices)
    .filter((names) => !leftOut(study.except, names))
    .map((names, place): Cell | undefined => {
      const label = names.filter((n, i) => n !== undefined && choices[i]!.length > 1).join("-") || names[0]!;
      let raw: Record<string, unknown> = study.config;
      for (const [i, name] of names.entries())
        if (name !== undefined)
          raw = overlay(
            raw,
            resolvePiece(axes[AXES[i]!] as Record<string, Record<string, unknown>>, name, AXES[i]!, readStack),
          );
      raw = overlay(raw, scaled.config);
      const { own, aws } = splitNamespaces(raw);
      const checked = checkConfig(withEnvironment(own, process.env), aws);
      if ("problems" in checked) {
        problems.push(...checked.problems.map((p) => `leg ${label}: ${p}`));
        return undefined;
      }
      return { name: label, place, topology: names[0]!, config: checked.config, raw };
    });
  if (problems.length > 0) throw new StudyError(problems.join("\n"));
  if (cells.length === 0) throw new StudyError("except: every cell; expected at least one to be left");
  return cells as Cell[];
}

type Selection = Study["except"][number];

/** A name that no axis has would leave nothing out, unnoticed. */
function checkExcept(selections: Selection[], axes: Record<(typeof AXES)[number], object>): void {
  for (const [i, selection] of selections.entries())
    for (const [name, entry] of Object.entries(selection))
      if (!Object.hasOwn(axes[name as keyof Selection], entry))
        throw new StudyError(
          `except[${i}].${name}: "${entry}"; expected one of ${Object.keys(axes[name as keyof Selection]).join(", ")}`,
        );
}

const leftOut = (selections: Selection[], names: readonly (string | undefined)[]): boolean =>
  selections.some((selection) =>
    AXES.every((axis, i) => selection[axis] === undefined || selection[axis] === names[i]),
  );

export function scaleOf(study: Study, name: string | undefined): z.infer<typeof scale> {
  if (name === undefined) return scale.parse({});
  const found = study.scales[name];
  if (!found)
    throw new StudyError(
      `--scale: "${name}"; expected ${Object.keys(study.scales).length > 0 ? `one of ${Object.keys(study.scales).join(", ")}` : "no such option: the study has no scales"}`,
    );
  return found;
}

function product<T>(lists: T[][]): T[][] {
  return lists.reduce<T[][]>((rows, list) => rows.flatMap((row) => list.map((value) => [...row, value])), [[]]);
}

/** The legs in the order in which they run. */
export function legsOf(study: Study, cells: Cell[], repeats: number): Leg[] {
  const legs: Leg[] = [];
  const random = mulberry32(study.seed);
  for (let repeat = 0; repeat < repeats; repeat++) {
    const round =
      study.order === "random"
        ? shuffled(cells, random)
        : study.order === "abba" && repeat % 2 === 1
          ? [...cells].reverse()
          : cells;
    legs.push(...round.map((cell) => ({ cell, repeat, stack: `study-${study.name}-${cell.name}` })));
  }
  return legs;
}

/** Mulberry32, 32 bits of state: enough to shuffle a list, the same for a seed on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Fisher and Yates. */
function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const result = [...list];
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [result[i], result[j]] = [result[j]!, result[i]!];
  }
  return result;
}
