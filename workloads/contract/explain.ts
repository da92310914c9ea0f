/** Broken documents in words. */
import type { z } from "zod";

/** One line per broken key: `steps[0].threads: 0; expected number to be >0`. */
export function explain(error: z.ZodError, input: unknown): string {
  return error.issues
    .map((issue) => {
      const key = issue.path
        .map((p, i) => (typeof p === "number" ? `[${p}]` : i === 0 ? String(p) : `.${String(p)}`))
        .join("");
      if (issue.code === "unrecognized_keys")
        return `${key ? `${key}.` : ""}${issue.keys.join(", ")}: no such key here`;
      const given = issue.path.reduce<unknown>(
        (value, p) => (value as Record<PropertyKey, unknown> | undefined)?.[p],
        input,
      );
      const why = issue.message.replace(/^(Too small|Too big|Invalid (input|option|string)): /, "");
      return `${key || "(document)"}: ${JSON.stringify(given) ?? "missing"}; ${why}`;
    })
    .join("\n");
}
