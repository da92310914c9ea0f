import { writeOutput } from "../workloads/keep.ts";
import { ReportError } from "./errors.ts";

/** `writeOutput` with its sentence as a ReportError. */
export function writeWhole(path: string, text: string): void {
  try {
    writeOutput(path, text);
  } catch (error) {
    throw new ReportError((error as Error).message);
  }
}
