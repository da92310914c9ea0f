import { join } from "node:path";

/** The checkout. Not Pulumi's root directory: the engine may be run on a copy of the project file. */
export const checkout: string = join(import.meta.dirname, "..");
