/** Network namespaces and the interfaces in them. */
import { run } from "../run.ts";

export const ip = (namespace: string, commands: string[]) =>
  run("ip", ["-n", namespace, "-batch", "-"], { input: `${commands.join("\n")}\n` });

export const inNamespace = (namespace: string, command: string[], input?: string) =>
  run("nsenter", [`--net=/run/netns/${namespace}`, "--", ...command], input === undefined ? {} : { input });

/** Namespaces whose name begins so. */
export async function listNamespaces(prefix: string): Promise<string[]> {
  const all = JSON.parse((await run("ip", ["-j", "netns", "list"])) || "[]") as { name: string }[];
  return all.map((entry) => entry.name).filter((name) => name.startsWith(prefix));
}

/** Names of the interfaces in a namespace, or outside of any. */
export async function listLinks(namespace?: string): Promise<string[]> {
  const text = await run("ip", [...(namespace ? ["-n", namespace] : []), "-j", "link", "show"]);
  return (JSON.parse(text) as { ifname: string }[]).map((link) => link.ifname);
}

/** A namespace with loopback up and no IPv6 (nothing here uses it, and its address checks delay a boot). */
export async function ensureNamespace(name: string, existing: string[], router: boolean): Promise<void> {
  if (!existing.includes(name)) await run("ip", ["netns", "add", name]);
  const settings = ["net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"];
  if (router)
    settings.push(
      "net.ipv4.ip_forward=1",
      "net.ipv4.conf.all.rp_filter=0",
      "net.ipv4.conf.default.rp_filter=0",
      "net.ipv4.conf.all.send_redirects=0",
      "net.ipv4.conf.default.send_redirects=0",
    );
  await inNamespace(name, ["sysctl", "-qw", ...settings]);
  await ip(name, ["link set lo up"]);
}
