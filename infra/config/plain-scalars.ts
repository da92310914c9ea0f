/**
 * Plain words of YAML that its readers take for different values. Pulumi's engine reads with rules of YAML 1.1 beside
 * those of 1.2: 010 is 8 to it, 1_000 is 1000, 0b11 is 3, 2026-01-02 is a time; to readers of YAML 1.2, such as this
 * project's own, they are 10 and three texts. Nobody can tell what was meant, so that none of them is taken.
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isScalar, LineCounter, parseDocument, visit } from "yaml";

type Kind = [pattern: RegExp, expected: (word: string) => string];
const DAY: Kind = [/^\d{4}-\d{1,2}-\d{1,2}([Tt ].*)?$/, (word) => `"${word}", a text`];
const KINDS: Kind[] = [
  [
    /^[-+]?0[0-9_]+$/,
    (word) => {
      const digits = word.replaceAll("_", "").replace(/^([-+]?)0+(?=\d)/, "$1");
      return `${digits} for a decimal number, ${/[89]/.test(digits) ? "" : `0o${digits.replace(/^[-+]/, "")} for an octal one, `}"${word}" for a text`;
    },
  ],
  [/^[-+]?\d[\d_]*_[\d_]*(\.[\d_]*)?$/, (word) => `${word.replaceAll("_", "")} for a number, "${word}" for a text`],
  [
    /^[-+]?0b[01_]+$/i,
    (word) =>
      `${Number(word.replaceAll(/[_+-]/g, "")) * (word.startsWith("-") ? -1 : 1)} for a number, "${word}" for a text`,
  ],
  DAY,
];

/**
 * One sentence per such word, in the project's form. What is no YAML at all is for its reader to say.
 *
 * @param file as it is called in front of lines that have no key
 */
export function ambiguousScalars(text: string, file: string): string[] {
  const lines = new LineCounter();
  const document = parseDocument(text.replace(/^\uFEFF/, ""), { lineCounter: lines });
  if (document.errors.length > 0) return [];
  const problems: string[] = [];
  visit(document, {
    Scalar(key, node, path) {
      if (key === "key" || node.type !== "PLAIN" || node.source === undefined) return;
      const word = node.source;
      const kind = KINDS.find(([pattern]) => pattern.test(word));
      if (kind === undefined) return;
      const names = path
        .flatMap((step, i) => {
          if (typeof step !== "object") return [];
          if ("key" in step && isScalar(step.key)) return [String(step.key.value)];
          const inner = path[i + 1] ?? node;
          if ("items" in step && Array.isArray(step.items) && !("key" in inner)) {
            const at = (step.items as unknown[]).indexOf(inner);
            return at < 0 ? [] : [`[${at}]`];
          }
          return [];
        })
        .filter((name, i) => i > 0 || name !== "config")
        .join(".")
        .replaceAll(".[", "[");
      const { line } = lines.linePos(node.range?.[0] ?? 0);
      // A key that takes what either reader makes of a day.
      if (kind === DAY && /(^|[:.])cost\.asOf$/.test(names)) return;
      problems.push(
        `${names || file}: ${word} in line ${line} of ${file}, which readers of YAML take for different values; expected ${kind[1](word)}`,
      );
    },
  });
  return problems;
}

/** Of a stack's file in that folder, where there is one. */
export function ambiguousStackFile(stack: string, folder: string): string[] {
  return [`Pulumi.${stack}.yaml`, `Pulumi.${stack}.yml`].flatMap((name) =>
    existsSync(join(folder, name)) ? ambiguousScalars(readFileSync(join(folder, name), "utf8"), name) : [],
  );
}

/**
 * Where the file that the user wrote may be, by the folder that the engine runs in. `npm run pulumi` has it run in
 * .meshbench/project below that of the project, on a copy in which the words are no longer what was written.
 */
export function stackFileFolders(engines: string): string[] {
  const own = dirname(engines);
  return basename(engines) === "project" && basename(own) === ".meshbench" ? [engines, dirname(own)] : [engines];
}
