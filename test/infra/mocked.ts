/**
 * A program: runs the whole topology under Pulumi's mocks, once. stdin: the configuration's keys as JSON. stdout: what
 * was registered and what the program gave out, as JSON. A process of its own each time: the SDK keeps its state in the
 * process.
 */

import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";

export interface Registered {
  name: string;
  type: string;
  parent: string;
  dependsOn: string[];
  deletedWith: string;
  ignoreChanges: string[];
  secretOutputs: string[];
  /** Inputs; a secret is { secret: value }. */
  inputs: Record<string, unknown>;
}
export interface Mocked {
  resources: Registered[];
  outputs: Record<string, unknown>;
  error?: string;
}

const SECRET = "4dabf18193072939515e22adb298388d",
  SIGNATURE = "1b47061264138c4ac30d75fd1eb44270";
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const all = value as Record<string, unknown>;
  if (all[SECRET] === SIGNATURE) return { secret: plain(all["value"]) };
  return Object.fromEntries(Object.entries(all).map(([k, v]) => [k, plain(v)]));
};

/** Of steps that only the caller knows: the end of the name -> what is printed, as JSON. */
const MORE = Object.entries(JSON.parse(process.env["MESHBENCH_MOCKED"] ?? "{}") as Record<string, string>);

/** What each step would print, by the resource's name. Addresses and keys are made up. */
function stdoutOf(name: string): string {
  const told = MORE.find(([end]) => name.endsWith(end));
  if (told !== undefined) return told[1];
  if (name === "stack-id") return JSON.stringify({ id: "0123456789ab", name: "mocked", lab: "mocked-lab" });
  if (name === "operator-key") return JSON.stringify({ private: "PRIVATE-KEY", public: "ssh-ed25519 AAAA test" });
  if (name.endsWith("-password")) return `SECRET-OF-${name}`;
  if (name === "expiry") return "2026-01-02T00:00:00Z";
  if (name.startsWith("local-"))
    return JSON.stringify({
      address: "192.168.1.2",
      publicAddress: "203.0.113.2",
      hostKey: "ssh-ed25519 AAAA",
      behindNat: false,
    });
  if (name.endsWith("-wg-key")) return `KEY-OF-${name}=\n`;
  if (name === "database-ready")
    return JSON.stringify({ version: "10.11.11", provider: "26.4.21", clusterUuid: "u", size: 3 });
  if (name === "haproxy") return JSON.stringify({ version: "2.6.12", servers: [{ name: "east-1", state: "UP" }] });
  if (name === "maxscale")
    return JSON.stringify({
      maxscale: { data: { id: "m", attributes: { version: "24.02.5" } } },
      servers: { data: [] },
      monitor: { data: { id: "m", attributes: {} } },
      service: { data: { id: "s", attributes: {} } },
    });
  if (name === "run")
    return JSON.stringify({ runId: "r", resultFile: "results/r.json", startedAt: "", finishedAt: null, results: [] });
  return "";
}

interface Request {
  getName(): string;
  getType(): string;
  getParent(): string;
  getDependenciesList(): string[];
  getDeletedwith(): string;
  getIgnorechangesList(): string[];
  getAdditionalsecretoutputsList(): string[];
  getObject(): { toJavaScript(): Record<string, unknown> } | undefined;
}
interface Monitor {
  registerResource(request: Request, callback: unknown): Promise<void>;
}

async function main(): Promise<Mocked> {
  const raw = JSON.parse(readFileSync(0, "utf8")) as Record<string, unknown>;
  pulumi.runtime.setAllConfig(
    Object.fromEntries(
      Object.entries(raw).map(([k, v]) => [`meshbench:${k}`, typeof v === "string" ? v : JSON.stringify(v)]),
    ),
  );
  // Its nodes are made up.
  process.env["MESHBENCH_LOOK"] = "off";
  await pulumi.runtime.setMocks(
    {
      newResource: ({ name, inputs }) => ({
        id: `${name}-id`,
        state: { ...inputs, stdout: stdoutOf(name), stderr: "" },
      }),
      call: () => ({}),
    },
    "meshbench",
    "mocked",
  );

  const resources: Registered[] = [];
  const monitor = pulumi.runtime.getMonitor() as unknown as Monitor;
  const register = monitor.registerResource.bind(monitor);
  monitor.registerResource = (request, callback) => {
    const last = (urn: string): string => urn.split("::").at(-1)!;
    resources.push({
      name: request.getName(),
      type: request.getType(),
      parent: last(request.getParent()),
      dependsOn: request.getDependenciesList().map(last).sort(),
      deletedWith: last(request.getDeletedwith()),
      ignoreChanges: request.getIgnorechangesList(),
      secretOutputs: request.getAdditionalsecretoutputsList(),
      inputs: plain(request.getObject()?.toJavaScript() ?? {}) as Record<string, unknown>,
    });
    return register(request, callback);
  };

  try {
    const { topology } = await import("../../infra/index.ts");
    const outputs = await new Promise<Record<string, unknown>>((resolve, reject) => {
      void topology().then(
        (made) => pulumi.output(made).apply((value) => resolve(value as Record<string, unknown>)),
        reject,
      );
    });
    return { resources, outputs };
  } catch (error) {
    return { resources, outputs: {}, error: (error as Error).message };
  }
}

const mocked = await main();
process.stdout.write(JSON.stringify(mocked));
