/** Starts fakepve (PyPI) on loopback, in a virtual environment that is made once and kept in the cache. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { callProxmox, type ProxmoxApi } from "../../infra/sites/proxmox/api.ts";
import { cacheFolder, checkout } from "../../tools/paths.ts";

const VERSION = "0.5.0";
const PROGRAM = join(checkout, "standins/pulumi-resource-proxmoxve/fake_pve.py");

export interface FakePve {
  endpoint: string;
  token: string;
  /** Its certificate, for clients that verify. */
  caFile: string;
  call<T>(method: Parameters<typeof callProxmox>[1], path: string, form?: Record<string, string | number>): Promise<T>;
  /** Every request so far: method, path, body. Secrets are not in them. */
  requests(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Undefined, with the reason, where Python or the package cannot be had. */
export function fakePvePython(): { python: string } | { reason: string } {
  const venv = join(cacheFolder(), `fakepve-${VERSION}`);
  const python = join(venv, "bin", "python");
  const works = (): boolean =>
    existsSync(python) && spawnSync(python, ["-c", "import fakepve, cryptography"]).status === 0;
  if (works()) return { python };
  for (const command of [
    ["python3", "-m", "venv", venv],
    [join(venv, "bin", "pip"), "install", "-q", "--disable-pip-version-check", `fakepve==${VERSION}`, "cryptography"],
  ]) {
    const ran = spawnSync(command[0]!, command.slice(1), { encoding: "utf8" });
    if (ran.status !== 0)
      return {
        reason: `fakepve could not be installed: ${(ran.stderr ?? ran.error?.message ?? "").trim().split("\n").at(-1)}`,
      };
  }
  return works() ? { python } : { reason: `fakepve was installed in ${venv} and does not load` };
}

export async function startFakePve(python: string, environment: Record<string, string> = {}): Promise<FakePve> {
  const directory = mkdtempSync(join(tmpdir(), "meshbench-fakepve-"));
  const child = spawn(python, [PROGRAM, directory], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...environment },
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`fakepve ended with ${code} while it started`)));
  });
  const { endpoint, token } = JSON.parse(line) as { endpoint: string; token: string };
  const api: ProxmoxApi = { endpoint, login: { apiToken: token }, insecure: true };
  return {
    endpoint,
    token,
    caFile: join(directory, "ca.pem"),
    call: (method, path, form) => callProxmox(api, method, path, form),
    requests: () => callProxmox<string[]>(api, "GET", "/cluster/log"),
    stop: async () => {
      child.stdin.end();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
