/** What a configured value stands for, from a stack file or from the engine. Pure. */

/** Names that may look like a number and are none. */
const TEXT = new Set(["runId", "owner", "lab"]);

/**
 * A text may stand for a number, a list or an object: Pulumi hands them over as JSON, and `config set` writes them so.
 * An empty one stands for none (undefined): Pulumi.yaml declares every key, and a declared key must have a value.
 */
export function configValue(key: string, value: unknown): unknown {
  if (value === "") return undefined;
  if (TEXT.has(key)) return String(value);
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
