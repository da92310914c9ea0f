/**
 * `npm run test:live`: the smallest hybrid on real accounts - one node in AWS and two at home - a minute of load, away
 * again,
 * and a look for what is left. It costs money, a few cents, and is never part of `npm test`.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { parse } from "yaml";
import { linkProgram } from "../../harness/stack.ts";
import { checkConfig } from "../../infra/config/check.ts";
import { checkout } from "../../tools/paths.ts";
import { openProject } from "../../tools/project.ts";
import { runPulumi } from "../../tools/run.ts";
import { asYaml } from "../../tools/start/stack-files.ts";
import { awsLeftovers, proxmoxLeftovers } from "./leftovers.ts";

const program = new Command("test:live")
  .description("the smallest hybrid on real accounts: up, a minute of load, destroy, a look for leftovers")
  .requiredOption(
    "--config <file>",
    "YAML with what test/live/example.yaml shows: addresses, region, where you come from",
  )
  .option("--yes", "create resources that cost money; without it only the preview is shown")
  .option("--aws-only", "leave the Proxmox half out")
  .addHelpText("after", "\nThe Proxmox token is read from MESHBENCH_PROXMOX_TOKEN, AWS credentials as by any AWS tool.")
  .parse();
const options = program.opts<{ config: string; yes?: true; awsOnly?: true }>();
const STACK = "live";

interface Given {
  operatorCidr: string;
  owner: string;
  aws: Record<string, unknown>;
  proxmox?: Record<string, unknown>;
}

function fail(message: string): never {
  process.stderr.write(`test:live: ${message}\n`);
  process.exit(1);
}

if (!existsSync(options.config))
  fail(`--config: there is no file ${options.config}; test/live/example.yaml shows what it holds`);
const given = parse(readFileSync(options.config, "utf8")) as Given;
const token = process.env["MESHBENCH_PROXMOX_TOKEN"];
if (!options.awsOnly && !token) fail("MESHBENCH_PROXMOX_TOKEN is missing: USER@REALM!ID=SECRET (or --aws-only)");

const config: Record<string, unknown> = {
  sites: [
    { name: "aws", kind: "aws", nodes: options.awsOnly ? 3 : 1, ...given.aws },
    ...(options.awsOnly ? [] : [{ name: "home", kind: "proxmox", nodes: 2, ...given.proxmox }]),
  ],
  operatorCidr: given.operatorCidr,
  owner: given.owner,
  expiresHours: 2,
  proxy: { kind: "haproxy", placement: "driver", site: "aws" },
  profile: {
    data: { tables: 2, tableSize: 10_000 },
    steps: [{ workload: "oltp_read_write", threads: 4, warmupSeconds: 5, durationSeconds: 60 }],
  },
  ...(options.awsOnly ? {} : { proxmoxToken: token }),
};
const checked = checkConfig(config);
if ("problems" in checked) fail(`\n${checked.problems.map((p) => `  - ${p}`).join("\n")}`);

const root = mkdtempSync(join(tmpdir(), "meshbench-live-"));
cpSync(join(checkout, "Pulumi.yaml"), join(root, "Pulumi.yaml"));
linkProgram(root);
const { proxmoxToken: _secret, ...plain } = config;
writeFileSync(
  join(root, `Pulumi.${STACK}.yaml`),
  asYaml({ config: Object.fromEntries(Object.entries(plain).map(([k, v]) => [`meshbench:${k}`, v])) }),
);
const project = openProject(root);

async function pulumi(...args: string[]): Promise<number> {
  return (
    await runPulumi([...args, "--stack", STACK], {
      project,
      stack: STACK,
      destroying: args[0] === "destroy",
      env: { MESHBENCH_RESULTS: join(root, "results") },
    })
  ).code;
}

/** The secret goes in on stdin. Set for this stack alone, encrypted in a folder that is deleted at the end. */
async function setToken(): Promise<void> {
  if (options.awsOnly) return;
  const { code } = await runPulumi(["config", "set", "--secret", "meshbench:proxmoxToken", "--stack", STACK], {
    project,
    stack: STACK,
    input: token!,
  });
  if (code !== 0) fail("the Proxmox token could not be set");
}

await setToken();
if (!options.yes) {
  const code = await pulumi("preview");
  rmSync(root, { recursive: true, force: true });
  process.stdout.write("Only a preview: --yes creates it, runs a minute of load and takes it away again.\n");
  process.exit(code);
}

const up = await pulumi("up", "--yes", "--skip-preview");
const down = await pulumi("destroy", "--yes");
const left = [
  ...(await awsLeftovers(String(given.aws["region"]), given.aws["profile"] as string | undefined, STACK)),
  ...(options.awsOnly ? [] : await proxmoxLeftovers(given.proxmox ?? {}, token!, STACK)),
];
for (const what of left) process.stdout.write(`left over: ${what}\n`);
process.stdout.write(
  `up ${up === 0 ? "succeeded" : `failed (${up})`}, destroy ${down === 0 ? "succeeded" : `failed (${down}); its state is in ${root}`}, ${left.length === 0 ? "nothing" : `${left.length} things`} left over\n`,
);
// The state is the only record of what is still there.
if (down === 0) rmSync(root, { recursive: true, force: true });
process.exitCode = up === 0 && down === 0 && left.length === 0 ? 0 : 1;
