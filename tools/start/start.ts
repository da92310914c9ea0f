/** `npm start`: from nothing to a measured cluster on local nodes, and what to do next. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { resolveEngine } from "../engine/engine.ts";
import { checkout, nodeBinary, ToolError } from "../paths.ts";
import { duration, sayOnStderr } from "../progress.ts";
import { runPulumi } from "../run.ts";
import { NODES_GB, START_GB } from "./disk.ts";
import { preflight } from "./preflight.ts";

const STACK = "local";
const HELP = `npm start

Gets what this machine lacks (the Pulumi engine, Debian packages, the image of the local nodes), then stands up the
stack "${STACK}" - Debian nodes on this machine in two sites 10 ms apart, a WireGuard mesh, MariaDB Galera, HAProxy - runs the
workloads on it and shows the results. Needs Debian 12, root, /dev/net/tun and about ${START_GB} GB of disk, ${NODES_GB} where
Pulumi is there already.
The stack stays up; \`npm run pulumi -- destroy -s ${STACK}\` takes it away.
`;

async function main(): Promise<number> {
  if (process.argv.slice(2).some((a) => a === "--help" || a === "-h")) {
    process.stdout.write(HELP);
    return 0;
  }
  const began = Date.now();
  const step = (n: number, what: string): void =>
    sayOnStderr(`\n[${n}/4] ${what} (${duration(Date.now() - began)} since the start)`);
  step(1, "this machine");
  const problems = preflight().flatMap(([, problem]) => problem ?? []);
  for (const problem of problems) sayOnStderr(problem);
  if (problems.length > 0) return 1;
  if ((await call("lab/cli.ts", "check", "--install")) !== 0) return 1;
  step(2, "the Pulumi engine");
  const engine = await resolveEngine();
  sayOnStderr(`pulumi ${engine.version}, ${engine.source}`);
  step(3, "the image of the local nodes");
  if ((await call("lab/cli.ts", "image", "build")) !== 0) return 1;
  step(4, `stack "${STACK}"`);
  if (engine.standIns.length > 0)
    sayOnStderr(
      `The vendor's ${engine.standIns.join(" and ")} cannot be had on this machine: stand-ins of this project are used.`,
    );
  const { code } = await runPulumi(["up", "--yes", "--skip-preview", "--suppress-outputs", "--stack", STACK], {
    stack: STACK,
  });
  if (code !== 0) {
    sayOnStderr(
      `\nThe stack is not complete. \`npm start\` goes on where it stopped; \`npm run pulumi -- destroy -s ${STACK}\` takes away what there is.`,
    );
    return code;
  }
  process.stdout.write("\n");
  const shown = await call("cli/main.ts", "compare", STACK);
  process.stdout.write(next(Date.now() - began));
  return shown;
}

function next(took: number): string {
  return `
Done in ${duration(took)}. The cluster is up. What you can do with it:

  npm run pulumi -- stack output --json -s ${STACK}                        nodes, measured round trips, results
  npm run pulumi -- up -s ${STACK} -c meshbench:runId=again                one more run on the same cluster
  npx meshbench compare ${STACK} published:000/hybrid                      beside the published hybrid study
  npm run pulumi -- destroy -s ${STACK}                                    take it all away
`;
}

/** A program of this project, its output shown as it comes. stdout is for documents: here nobody reads them. */
function call(program: string, ...args: string[]): Promise<number> {
  const documents = program === "lab/cli.ts";
  return new Promise((resolve, reject) => {
    const child = spawn(nodeBinary(), [join(checkout, program), ...args], {
      cwd: checkout,
      stdio: ["inherit", documents ? "ignore" : "inherit", "inherit"],
    });
    const forward = (signal: NodeJS.Signals): void => {
      child.kill(signal);
    };
    process.once("SIGINT", forward).once("SIGTERM", forward);
    child.once("error", reject);
    child.once("close", (code) => {
      process.removeListener("SIGINT", forward).removeListener("SIGTERM", forward);
      resolve(code ?? 130);
    });
  });
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof ToolError)) throw error;
  sayOnStderr(error.message);
  process.exitCode = 1;
}
