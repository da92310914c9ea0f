import { isObject, plain, type Value, type Values } from "./values.ts";

export type Change = "add" | "delete" | "update";

/** `a`, `a.b`, `a[0]`, `a["odd key"]`: the engine's own spelling of a property path. */
function childPath(parent: string, key: string): string {
  if (/^[A-Za-z_$][\w$]*$/.test(key)) return parent === "" ? key : `${parent}.${key}`;
  return `${parent}[${JSON.stringify(key)}]`;
}

function collect(path: string, before: Value | undefined, after: Value | undefined, into: Map<string, Change>): void {
  if (before === undefined || after === undefined) {
    if (before !== after) into.set(path, before === undefined ? "add" : "delete");
  } else if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      collect(childPath(path, key), before[key], after[key], into);
    }
  } else if (Array.isArray(before) && Array.isArray(after)) {
    for (let i = 0; i < Math.max(before.length, after.length); i++) {
      collect(`${path}[${i}]`, before[i], after[i], into);
    }
  } else if (before !== after) {
    into.set(path, "update");
  }
}

/**
 * The paths at which two sets of inputs differ. Whether a value is secret makes no difference, and
 * neither do the engine's own keys (`version`, `__...`), as in the vendor's provider framework.
 */
export function changes(before: Values, after: Values): Map<string, Change> {
  const found = new Map<string, Change>();
  const own = (values: Values): Values =>
    Object.fromEntries(Object.entries(values).filter(([key]) => key !== "version" && !key.startsWith("__")));
  collect("", plain(own(before)), plain(own(after)), found);
  return found;
}
