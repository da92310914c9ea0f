/**
 * A program: waits until a node answers SSH with its pinned host key and its first boot is over.
 * stdin: WaitInput. stderr: progress. stdout: the node's facts as JSON. Exit 1 with one sentence when it does not come.
 */
import { TimeoutError } from "p-timeout";
import { answered, type Connection, connect, HostKeyError, readInput, run, sleep } from "../ssh.ts";
import { REJOIN_SECONDS } from "./rejoined.ts";

export interface WaitInput {
  name: string;
  connection: Connection;
  sudo: boolean;
  /** For SSH and the first boot together. */
  timeoutSeconds: number;
  /** The engine's, of a database node; empty: it has booted, and is back. */
  rejoined: string;
}

/**
 * Ends with 0 and the facts, with 10 while the first boot is not over, with 11 while a member of a cluster is not back in
 * it, with 20 and a reason when the first boot failed.
 */
const probeScript = (rejoined: string): string => `if command -v cloud-init >/dev/null; then
  state=$(cloud-init status 2>/dev/null | sed -n 's/^status: //p')
  case "$state" in
    done | disabled | "degraded done") ;;
    error) cloud-init status --long 2>/dev/null | tr '\\n' ' ' >&2; exit 20 ;;
    *) exit 10 ;;
  esac
fi
# After a stop and start too, the node is ready only when its services are.
case "$(systemctl is-system-running || true)" in initializing | starting) exit 10 ;; esac
${rejoined}
. /etc/os-release
printf '{"virtualization":"%s","os":"%s","kernel":"%s","cpus":%s,"memoryMb":%s}' "$(systemd-detect-virt || true)" "$PRETTY_NAME" "$(uname -r)" "$(nproc)" \\
  "$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)"`;

const PERIOD_MS = 2000;
const SAY_EVERY_MS = 15_000;
/** Tries, each PERIOD_MS apart. */
const STRANGER_TRIES = 5;

const { name, connection, sudo, timeoutSeconds, rejoined } = await readInput<WaitInput>();
const began = performance.now();
let deadline = began + timeoutSeconds * 1000;
let said = began,
  strangers = 0,
  refused = "",
  stage = `SSH at ${connection.host} does not answer`,
  booted = false;

async function attempt(): Promise<string | undefined> {
  const client = await connect(connection);
  try {
    stage = "SSH answers, but the first boot is not over";
    const probe = await run(client, probeScript(rejoined), sudo);
    if (probe.code === 0) return probe.stdout.toString();
    if (probe.code === 20) throw new Fatal(`${name}: its first boot failed: ${probe.stderr.trim()}`);
    if (probe.code === 11) {
      // From here on it is the database that is waited for, with the time that a state transfer takes.
      if (!booted) deadline = performance.now() + REJOIN_SECONDS * 1000;
      booted = true;
      stage = `the node is up, but not back in its cluster (${probe.stderr.trim().split("\n").at(-1) ?? ""})`;
    } else if (probe.code !== 10)
      stage = `SSH answers, but the check on the node ended with ${probe.code}: ${probe.stderr.trim().split("\n").at(-1) ?? ""}`;
    return undefined;
  } finally {
    client.end();
  }
}

class Fatal extends Error {}

/** The address stands in the sentence already. */
function reasonOf({ message }: Error): string {
  const at = `${connection.host}:${connection.port ?? 22}`;
  return message.startsWith(at) ? message.slice(at.length).replace(/^:? /, "") : message;
}

async function wait(): Promise<string> {
  for (;;) {
    try {
      const facts = await answered(attempt(), deadline - performance.now());
      if (facts !== undefined) return facts;
    } catch (error) {
      if (error instanceof Fatal) throw error;
      // For a moment the address may still be the machine's that had it before.
      strangers = error instanceof HostKeyError ? strangers + 1 : 0;
      if (strangers > STRANGER_TRIES)
        throw new Error(`${name}: ${(error as Error).message}; does somebody else answer there?`);
      // A dial that the bound cut short says less than the one before it.
      if (!(error instanceof TimeoutError) || refused === "") refused = reasonOf(error as Error);
      if (stage.startsWith("SSH at")) stage = `SSH at ${connection.host} does not answer (${refused})`;
    }
    if (performance.now() + PERIOD_MS > deadline)
      throw new Error(
        booted
          ? `${name}: not ready within ${timeoutSeconds + REJOIN_SECONDS} s: ${stage}; its database's journal says more; the nodes after it were left alone`
          : `${name}: not ready within ${timeoutSeconds} s: ${stage}; is SSH open to you (operator address, security group, firewall), and did the machine boot?`,
      );
    if (performance.now() - said > SAY_EVERY_MS) {
      console.error(`${name}: ${stage} (${Math.round((performance.now() - began) / 1000)} s)`);
      said = performance.now();
    }
    await sleep(PERIOD_MS);
  }
}

try {
  process.stdout.write(await wait());
  process.exit(0); // a dial that is still open must not hold the program
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
