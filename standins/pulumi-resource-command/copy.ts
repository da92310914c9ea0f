import { readdir, stat } from "node:fs/promises";
import { posix } from "node:path";
import type { SFTPWrapper, Stats } from "ssh2";
import type { Log } from "./log.ts";
import { type Connection, dial } from "./ssh.ts";
import type { Source } from "./values.ts";

const noSuchFile = 2; // SSH_FX_NO_SUCH_FILE

function call<T>(start: (done: (error: Error | null | undefined, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => start((error, value) => (error ? reject(error) : resolve(value as T))));
}

async function statRemote(sftp: SFTPWrapper, path: string): Promise<Stats | undefined> {
  try {
    return await call<Stats>((done) => sftp.stat(path, done));
  } catch (error) {
    if ((error as { code?: unknown }).code === noSuchFile) return undefined;
    throw new Error(`failed to stat remote path ${path}: ${(error as Error).message}`);
  }
}

async function makeDirectories(sftp: SFTPWrapper, path: string): Promise<void> {
  const found = await statRemote(sftp, path);
  if (found?.isDirectory()) return;
  if (found) throw new Error(`remote path ${path} exists but is not a directory`);
  const parent = posix.dirname(path);
  if (parent !== path) await makeDirectories(sftp, parent);
  try {
    await call((done) => sftp.mkdir(path, done));
  } catch (error) {
    throw new Error(`failed to create remote directory ${path}: ${(error as Error).message}`);
  }
}

async function copyFile(sftp: SFTPWrapper, from: string, to: string): Promise<void> {
  try {
    await call((done) => sftp.fastPut(from, to, done));
  } catch (error) {
    throw new Error(`failed to copy file ${from} to remote path ${to}: ${(error as Error).message}`);
  }
}

async function copyDirectory(sftp: SFTPWrapper, from: string, to: string): Promise<void> {
  await makeDirectories(sftp, to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [posix.join(from, entry.name), posix.join(to, entry.name)];
    if (entry.isDirectory()) await copyDirectory(sftp, source, target);
    else await copyFile(sftp, source, target);
  }
}

/**
 * Where things land, as with the vendor's plugin:
 * a file goes to `remotePath`, or into it where it's a directory; a directory `d` goes to
 * `remotePath/d`, and `d/` (with the slash) leaves its content in `remotePath`.
 */
async function copyPath(sftp: SFTPWrapper, from: string, to: string): Promise<void> {
  const isDirectory = (await stat(from)).isDirectory();
  const target = await statRemote(sftp, to);
  if (isDirectory) {
    await copyDirectory(sftp, from, from.endsWith("/") ? to : posix.join(to, posix.basename(from)));
  } else if (target?.isDirectory()) {
    await copyFile(sftp, from, posix.join(to, posix.basename(from)));
  } else {
    if (!target) await makeDirectories(sftp, posix.dirname(to));
    await copyFile(sftp, from, to);
  }
}

async function copyText(sftp: SFTPWrapper, text: string, to: string): Promise<void> {
  const target = await statRemote(sftp, to);
  if (target?.isDirectory()) {
    throw new Error(`remote path ${to} is a directory; when using a text asset, remotePath must be a file path`);
  }
  if (!target) await makeDirectories(sftp, posix.dirname(to));
  await call((done) => sftp.writeFile(to, text, done));
}

/** Copies a file, a directory or a text to the remote host by SFTP. */
export async function copyToRemote(
  source: Source,
  remotePath: string,
  connection: Connection,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const client = await dial(connection, log, signal);
  const abort = () => client.destroy();
  signal.addEventListener("abort", abort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      client.once("close", () => reject(new Error("connection lost")));
      client.sftp((error, sftp) => {
        if (error) return reject(error);
        (source.kind === "text"
          ? copyText(sftp, source.text, remotePath)
          : copyPath(sftp, source.path, remotePath)
        ).then(resolve, reject);
      });
    });
  } finally {
    signal.removeEventListener("abort", abort);
    await log.flushed();
    client.end();
  }
}
