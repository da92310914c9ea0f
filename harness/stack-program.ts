/** A program: `npm run pulumi` for a project folder that is not the checkout. Arguments: root, stack, Pulumi's own. */
import { openProject } from "../tools/project.ts";
import { runPulumi } from "../tools/run.ts";

const [root, stack, ...args] = process.argv.slice(2);
const { code } = await runPulumi([...args, "--stack", stack!], {
  project: openProject(root),
  stack: stack!,
  destroying: args[0] === "destroy",
});
process.exitCode = code;
