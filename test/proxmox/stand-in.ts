/** The shipped proxmox-only stack with fakepve as its host and local nodes as guests. */
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { TestStack } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { checkout } from "../../tools/paths.ts";
import { standInPath } from "../../tools/standins.ts";
import { type FakePve, fakePvePython, startFakePve } from "./fake-pve.ts";
import { lab, makeNetwork } from "./lab.ts";
import { proxmoxOnly, type Site } from "./stack.ts";

export class ProxmoxStack {
  readonly stack: TestStack;
  readonly pve: FakePve;
  readonly #prefix: string;
  readonly #before: Record<string, string | undefined> = {};

  private constructor(stack: TestStack, pve: FakePve, prefix: string) {
    this.stack = stack;
    this.pve = pve;
    this.#prefix = prefix;
  }

  /** The environment of this process is what the engine gets; stop() puts it back. */
  static async start(name: string): Promise<ProxmoxStack> {
    const found = fakePvePython();
    if ("reason" in found) throw new Error(found.reason);
    const pve = await startFakePve(found.python);
    const stack = new TestStack(name, {} as ConfigInput);
    const { home = "" } = makeNetwork(stack.lab, [{ name: "home", nat: true }]);
    const made = new ProxmoxStack(stack, pve, home);
    made.#environment({
      MESHBENCH_STANDIN_LAB: stack.lab,
      MESHBENCH_STAND_INS:
        "the Proxmox plugin for Pulumi, with fakepve as the Proxmox host and containers of this machine as its guests,",
      // Both the program and a Go plugin verify the host's certificate.
      NODE_EXTRA_CA_CERTS: pve.caFile,
      SSL_CERT_FILE: pve.caFile,
      PATH: `${standInPath(["pulumi-resource-proxmoxve"])}${delimiter}${process.env["PATH"] ?? ""}`,
    });
    return made;
  }

  /** What a user sets, in the shipped file; the proxy is one that package registries have. */
  configure(site: Site = {}, more: Partial<Record<keyof ConfigInput, unknown>> = {}): void {
    const config = proxmoxOnly(
      { endpoint: this.pve.endpoint, address: `${this.#prefix}.100/24`, gateway: `${this.#prefix}.1`, ...site },
      { proxy: { kind: "haproxy" }, profile: "quick", ...more },
    );
    this.stack.configure({ ...config, proxmoxToken: this.pve.token });
  }

  /** The committed file as it is. */
  configureAsShipped(): void {
    writeFileSync(
      join(this.stack.root, `Pulumi.${this.stack.name}.yaml`),
      readFileSync(join(checkout, "Pulumi.proxmox-only.yaml")),
    );
  }

  guests(): Promise<{ vmid: number; name: string; status: string; tags?: string }[]> {
    return this.pve.call("GET", "/cluster/resources?type=vm");
  }

  labNodes(): string[] {
    const labs = JSON.parse(lab(["list", "--json"])) as { lab: string; nodes: { name: string }[] }[];
    return (labs.find((one) => one.lab === this.stack.lab)?.nodes ?? []).map((node) => node.name).sort();
  }

  #environment(values: Record<string, string | undefined>): void {
    for (const [key, value] of Object.entries(values)) {
      if (!(key in this.#before)) this.#before[key] = process.env[key];
      if (value === undefined) delete process.env[key];
      else process.env[key] = value;
    }
  }

  async stop(): Promise<void> {
    this.#environment(this.#before);
    await this.pve.stop();
    this.stack.remove();
  }
}
