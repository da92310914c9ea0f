/** A node of the laboratory on this machine for every guest that runs. */
import { spawn } from "node:child_process";
import { stringify } from "yaml";
import { checkout, nodeBinary } from "../../tools/paths.ts";

export interface Machine {
  /** The node's name in the laboratory. */
  name: string;
  site: string;
  /** "dhcp", or address with mask inside the site's network, which the node then has besides its own. */
  address: string;
  publicKeys: string[];
  /** As its volume is called. */
  image: string;
  /** Of virtual machines: whom cloud-init makes; containers have root. */
  user?: string;
}

function laboratory(): string {
  const lab = process.env["MESHBENCH_STANDIN_LAB"];
  if (!lab)
    throw new Error(
      "this stand-in for the Proxmox plugin makes its machines in a laboratory: MESHBENCH_STANDIN_LAB must name it",
    );
  return lab;
}

function run(args: string[], input?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(nodeBinary(), ["lab/cli.ts", ...args], { cwd: checkout, stdio: ["pipe", "pipe", "pipe"] });
    let out = "",
      err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(out) : reject(new Error(err.trim() || `lab ${args.join(" ")} ended with ${code}`)),
    );
    child.stdin.end(input);
  });
}

/**
 * The user data that Proxmox makes of ciuser, sshkeys and the name (PVE::QemuServer::Cloudinit), without
 * package_upgrade:
 * these nodes reach no package archive.
 */
export function userData({ name, user, publicKeys }: Pick<Machine, "name" | "user" | "publicKeys">): string {
  return `#cloud-config\n${stringify({ hostname: name, manage_etc_hosts: true, fqdn: name, user, ssh_authorized_keys: publicKeys, chpasswd: { expire: false }, users: ["default"] }, { lineWidth: 0 })}`;
}

/** @returns the address at which the machine answers. */
export async function startMachine(machine: Machine): Promise<string> {
  const lab = laboratory();
  const created = JSON.parse(
    await run(
      ["node", "create"],
      JSON.stringify({
        lab,
        site: machine.site,
        name: machine.name,
        timeoutSeconds: 240,
        debian: machine.image.includes("debian-13-") ? 13 : 12,
        ...(machine.user === undefined
          ? { authorizedKeys: machine.publicKeys }
          : {
              userData: userData(machine),
              // The image's own user is debian; the guest's is whom ciuser names.
              ...(process.env["MESHBENCH_STANDIN_BARE"] ? { bare: { user: "debian" } } : {}),
            }),
      }),
    ),
  ) as { address: string };
  if (machine.address === "dhcp") return created.address;
  await giveAddress(machine.name, machine.address);
  return machine.address.split("/")[0]!;
}

async function giveAddress(name: string, address: string): Promise<void> {
  await run([
    "node",
    "exec",
    "--lab",
    laboratory(),
    "--name",
    name,
    "--",
    "ip",
    "addr",
    "replace",
    address,
    "dev",
    "eth0",
  ]);
}

export async function restartMachine(name: string, address: string): Promise<void> {
  await run(["node", "stop", "--lab", laboratory(), "--name", name]);
  await run(["node", "start", "--lab", laboratory(), "--name", name]);
  if (address !== "dhcp") await giveAddress(name, address);
}

export async function endMachine(name: string): Promise<void> {
  await run(["node", "delete", "--lab", laboratory(), "--name", name, "--grace", "0"]);
}

export async function machineRuns(name: string): Promise<boolean> {
  const labs = JSON.parse(await run(["list", "--json"])) as { lab: string; nodes: { name: string }[] }[];
  return labs.some((one) => one.lab === laboratory() && one.nodes.some((node) => node.name === name));
}
