import { createHash } from "node:crypto";

/** Two checkouts, or a test beside a demo, may have stacks of one name: the place of the checkout tells them apart. */
export function labName(stack: string, root: string): string {
  return `${stack
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .slice(0, 30)}-${createHash("sha256").update(`${root}\0${stack}`).digest("hex").slice(0, 6)}`;
}
