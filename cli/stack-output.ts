/** What a stack says of its last run, through the engine, for commands that take a stack's name. */

import { existsSync } from "node:fs";
import { openProject, stateFile } from "../tools/project.ts";
import { runPulumi } from "../tools/run.ts";

/**
 * The `resultFile` output; null when there is no such stack, it has no such output, or no engine is on this machine.
 */
export async function stackResultFile(stack: string): Promise<string | null> {
  try {
    const project = openProject();
    // Without a state there is nothing to ask an engine for, which may have to be built first.
    const state = stateFile(project, stack);
    if (state !== undefined && !existsSync(state)) return null;
    const { code, stdout } = await runPulumi(["stack", "output", "--json", "--stack", stack], {
      project,
      stack,
      stdio: "pipe",
      say: () => {},
    });
    const outputs = code === 0 ? (JSON.parse(stdout) as { resultFile?: unknown }) : {};
    return typeof outputs.resultFile === "string" ? outputs.resultFile : null;
  } catch {
    return null;
  }
}
