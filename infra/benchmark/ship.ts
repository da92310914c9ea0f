/** A program: brings files to a node, each once. stdin: { connection, sudo, files }. */
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { checkout } from "../paths.ts";
import { shellQuote } from "../shell.ts";
import { type Connection, connect, readInput, run, sleep } from "../ssh.ts";
import type { Shipment } from "./bundle.ts";

const ATTEMPTS = 3;

const { connection, sudo, files } = await readInput<{ connection: Connection; sudo: boolean; files: Shipment[] }>();
for (let attempt = 1; ; attempt++) {
  try {
    const client = await connect(connection);
    try {
      for (const file of files) await ship(client, file);
    } finally {
      client.end();
    }
    break;
  } catch (error) {
    if (attempt === ATTEMPTS) {
      console.error(
        `could not bring ${files.map((f) => f.target).join(", ")} to ${connection.host}: ${(error as Error).message}`,
      );
      process.exit(1);
    }
    await sleep(1000 * attempt);
  }
}

/** The content is checked on the node before it takes its name, so a name that exists stands for the whole file. */
async function ship(client: Awaited<ReturnType<typeof connect>>, file: Shipment): Promise<void> {
  const target = shellQuote(file.target);
  const there = await run(client, `[ -e ${target} ]`, sudo);
  if (there.code === 0) return;
  const unpack = file.source.endsWith(".gz") ? "gzip -dc" : "cat";
  const sent = await run(
    client,
    `install -d -m 0755 "$(dirname ${target})"
temporary=$(mktemp ${target}.XXXXXX)
trap 'rm -f "$temporary"' EXIT
${unpack} > "$temporary"
echo "${file.sha256}  $temporary" | sha256sum -c --quiet - >&2
chmod ${file.mode} "$temporary"
mv "$temporary" ${target}`,
    sudo,
    createReadStream(resolve(checkout, file.source)),
  );
  if (sent.code !== 0) throw new Error(sent.stderr.trim() || `exit code ${sent.code}`);
}
