/**
 * A program: takes away what a killed run was creating in a cloud and no state knows. stdin: LostInput. stderr: what is
 * done. Exit 1 with one sentence per resource about which nothing can be found out, or which stays.
 */
import { text } from "node:stream/consumers";
import { ofType } from "../sites/index.ts";
import type { LostInput, Say } from "./lost-item.ts";

if (import.meta.main) {
  const input = JSON.parse(await text(process.stdin)) as LostInput;
  const say: Say = (line) => console.error(line);
  let stays = false;
  for (const one of input.lost) {
    try {
      await ofType(one.type)?.recover?.(input, one, say);
    } catch (error) {
      stays = true;
      console.error(
        `stack ${input.stack}: an earlier run was killed while it made ${one.name} (${one.type}), and whether it exists could not be found out, or it stays (${(error as Error).message}); put that right and run this again; npm run meshbench -- leftovers --all ${input.stack} shows what is there, npm run pulumi -- refresh --clear-pending-creates -s ${input.stack} forgets it`,
      );
    }
  }
  process.exitCode = stays ? 1 : 0;
}
