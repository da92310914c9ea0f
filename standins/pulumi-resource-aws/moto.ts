/** A moto server on loopback, from PyPI in an environment of its own in the cache. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { withLock } from "../../tools/lock.ts";
import { cacheFolder, onPath } from "../../tools/paths.ts";

const run = promisify(execFile);
const VERSION = "5.2.5";

/** Path of moto_server; installs it once, a minute. Throws a sentence when there is no Python with venv. */
export async function installMoto(): Promise<string> {
  const folder = join(cacheFolder(), `moto-${VERSION}`);
  const server = join(folder, "bin", "moto_server");
  await withLock(
    `${folder}.lock`,
    async () => {
      if (existsSync(join(folder, "complete"))) return;
      const python = onPath("python3", process.env["PATH"]);
      if (!python) throw new Error("the stand-in for AWS needs python3 with venv and pip, for moto");
      rmSync(folder, { recursive: true, force: true });
      await run(python, ["-m", "venv", folder]);
      await run(
        join(folder, "bin", "pip"),
        ["install", "-q", "--disable-pip-version-check", `moto[ec2,server]==${VERSION}`],
        { timeout: 600_000 },
      );
      await run("touch", [join(folder, "complete")]);
    },
    () => {},
  );
  return server;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
      .once("error", reject)
      .listen(0, "127.0.0.1", () => {
        const address = server.address();
        server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
      });
  });
}

export interface Moto {
  url: string;
  stop(): Promise<void>;
}

/** Its state lives as long as it does. It ends with this process, however that ends. */
export async function startMoto(): Promise<Moto> {
  const server = await installMoto();
  const port = await freePort();
  const setpriv = onPath("setpriv", process.env["PATH"]);
  const command = [...(setpriv ? [setpriv, "--pdeathsig", "KILL"] : []), server, "-H", "127.0.0.1", "-p", String(port)];
  const child: ChildProcess = spawn(command[0]!, command.slice(1), {
    stdio: "ignore",
    env: { ...process.env, MOTO_AMIS_PATH: join(import.meta.dirname, "amis.json") },
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  for (let waited = 0; ; waited += 100) {
    if (
      await fetch(`${url}/moto-api/`).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      break;
    if (child.exitCode !== null || waited > 60_000) throw new Error("moto did not start within 60 s");
    await sleep(100);
  }
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
