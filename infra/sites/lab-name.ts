import { createHash } from "node:crypto";

/** A stack's name as far as a lab's may hold it. */
export const labSlug = (stack: string): string =>
  stack
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .slice(0, 30);

/** Two checkouts, or a test beside a demo, may have stacks of one name: the place of the checkout tells them apart. */
export const labName = (stack: string, root: string): string =>
  `${labSlug(stack)}-${createHash("sha256").update(`${root}\0${stack}`).digest("hex").slice(0, 6)}`;
