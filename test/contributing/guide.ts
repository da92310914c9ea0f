/** CONTRIBUTING.md's "How to add": its blocks as edits, and what they do to a copy of the sources. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

export interface Block {
  path: string;
  /** Of a new file: all of it; of an edit: lines that begin with " ", "-" or "+", and "@@" between two places. */
  text: string;
  edit: boolean;
}

export interface Guide {
  /** As the guide says it. */
  promised: { created: number; edited: number };
  blocks: Block[];
}

/** @param what "an engine" */
export function guideOf(what: string): Guide {
  const text = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  const section = text.split(/^## /m).find((one) => one.startsWith(`How to add ${what}\n`));
  assert.ok(section, `CONTRIBUTING.md says how to add ${what}`);
  const [, created, edited] = /^New files: (\d+)\. Edited files: (\d+)\.$/m.exec(section) ?? [];
  const blocks = [...section.matchAll(/^```(\w+) (\S+)\n([\s\S]*?)^```$/gm)].map(
    ([, language, path, body]): Block => ({ path: path!, text: body!, edit: language === "diff" }),
  );
  assert.equal(blocks.length, section.match(/^```\w/gm)?.length ?? 0, `${what}: each block has a file`);
  return { promised: { created: Number(created), edited: Number(edited) }, blocks };
}

/** Everything that the compiler and the program need; node_modules is that of the checkout. */
export function copyOfSources(): string {
  const folder = mkdtempSync(join(tmpdir(), "meshbench-contributing-"));
  const { include } = JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8")) as { include: string[] };
  const files = readdirSync(ROOT, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && /^(Pulumi.*\.yaml|.*\.json|.*\.js)$/.test(entry.name),
  );
  for (const name of [...include, ...files.map((entry) => entry.name)])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

export function apply(folder: string, { path, text, edit }: Block): void {
  const target = join(folder, path);
  if (!edit) {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text, { flag: "wx" });
    return;
  }
  const changed = text.split(/^@@.*\n/m).reduce(
    (whole, place) => {
      const side = (left: string): string =>
        place
          .split(/(?<=\n)/)
          .filter((line) => !line.startsWith(left))
          .map((line) => line.slice(1))
          .join("");
      const before = side("+");
      assert.equal(whole.split(before).length, 2, `${path} has this once:\n${before}`);
      return whole.replace(before, () => side("-"));
    },
    readFileSync(target, "utf8"),
  );
  writeFileSync(target, changed);
}

/** What differs from the checkout. */
export function touched(folder: string): { created: string[]; edited: string[] } {
  const { include } = JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8")) as { include: string[] };
  const files = include
    .flatMap((name) => readdirSync(join(folder, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  const known = (path: string): string | undefined => {
    try {
      return readFileSync(join(ROOT, path), "utf8");
    } catch {
      return undefined;
    }
  };
  const changed = files.filter((path) => known(path) !== readFileSync(join(folder, path), "utf8")).toSorted();
  return {
    created: changed.filter((path) => known(path) === undefined),
    edited: changed.filter((path) => known(path) !== undefined),
  };
}
