/**
 * `npm run stand-ins`: a shell, or the command given, in which both clouds are stand-ins on this machine, to try the
 * cloud
 * stacks by hand. What is left of them when it ends is taken away.
 */
import { spawn } from "node:child_process";
import { delimiter } from "node:path";
import { labName } from "../../infra/sites/lab-name.ts";
import { startMoto } from "../../standins/pulumi-resource-aws/moto.ts";
import { checkout } from "../../tools/paths.ts";
import { standInPath } from "../../tools/standins.ts";
import { fakePvePython, startFakePve } from "../proxmox/fake-pve.ts";
import { lab, makeNetwork } from "../proxmox/lab.ts";

const HELP = `npm run stand-ins [-- command [arguments]]

Starts stand-ins for AWS (moto) and for a Proxmox host (fakepve) on this machine, with its local nodes as their machines, and
in their midst your shell, or the command. The sites of the shipped stacks - aws, home - are there, 10 ms apart. What
differs from the real ones is in variables: $PVE_ENDPOINT, $PVE_ADDRESS, $PVE_GATEWAY, $PVE_TOKEN. MaxScale's vendor is nobody's
stand-in: set meshbench:proxy.kind to haproxy, or give meshbench:proxy.archive. When the shell ends, so do the clouds, with
all that is in them: destroy your stacks first.
`;

async function main(command: string[]): Promise<number> {
  if (["--help", "-h"].includes(command[0] ?? "")) {
    process.stdout.write(HELP);
    return 0;
  }
  const python = fakePvePython();
  if ("reason" in python) throw new Error(python.reason);
  const laboratory = labName("stand-ins", checkout);
  const { home } = makeNetwork(
    laboratory,
    [
      { name: "aws", nat: false },
      { name: "home", nat: true },
    ],
    [{ between: ["aws", "home"], rttMs: 10 }],
  );
  const [moto, pve] = await Promise.all([startMoto(), startFakePve(python.python)]);
  try {
    return await run(command, {
      AWS_ENDPOINT_URL: moto.url,
      AWS_ACCESS_KEY_ID: "stand-in",
      AWS_SECRET_ACCESS_KEY: "stand-in",
      AWS_EC2_METADATA_DISABLED: "true",
      PVE_ENDPOINT: pve.endpoint,
      PVE_TOKEN: pve.token,
      PVE_ADDRESS: `${home}.100/24`,
      PVE_GATEWAY: `${home}.1`,
      NODE_EXTRA_CA_CERTS: pve.caFile,
      SSL_CERT_FILE: pve.caFile,
      MESHBENCH_STANDIN_LAB: laboratory,
      MESHBENCH_STAND_INS: "each cloud's plugin for Pulumi",
      PATH: `${standInPath(["pulumi-resource-aws", "pulumi-resource-proxmoxve"])}${delimiter}${process.env["PATH"] ?? ""}`,
    });
  } finally {
    await Promise.all([moto.stop(), pve.stop()]);
    lab(["purge", "--lab", laboratory]);
  }
}

/** The terminal is the command's, and so is Ctrl-C. */
function run(
  [program = process.env["SHELL"] ?? "/bin/sh", ...args]: string[],
  environment: Record<string, string>,
): Promise<number> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, ...environment } });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
