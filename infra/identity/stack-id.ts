/** What is kept of a stack's identity, and where. Pure: programs without Pulumi read it too. */

export interface Kept {
  /** 12 hexadecimal digits, random. */
  id: string;
  /** The stack's name when the id was made. */
  name: string;
  /** Of the laboratory of its local nodes, unless the configuration names one. */
  lab: string;
}

/** The resource that keeps it. */
export const STACK_ID_RESOURCE = "stack-id";

/** Undefined for what is no such thing. Pure. */
export function parseKept(text: unknown): Kept | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const { id, name, lab } = JSON.parse(text) as Partial<Kept>;
    return typeof id === "string" && typeof name === "string" && typeof lab === "string"
      ? { id, name, lab }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Below the folder that git ignores: a file for each id that was made or used from this checkout. */
export const STACK_IDS = "stack-ids";
