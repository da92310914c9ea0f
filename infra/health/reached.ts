/** A node over SSH: one connection for all that a look asks, taken up again when it breaks. */
import type { Client } from "ssh2";
import type { Node } from "../node.ts";
import { type Connection, connect, run } from "../ssh.ts";
import type { LookedAt } from "./looked-at.ts";

export function reached(node: Node, connection: Connection, advice: string): LookedAt & { close(): void } {
  let client: Promise<Client> | undefined;
  const open = (): Promise<Client> => {
    client ??= connect(connection).then((made) => {
      const forget = (): void => {
        client = undefined;
      };
      made.on("error", forget);
      made.on("close", forget);
      return made;
    });
    return client;
  };
  const close = (): void => {
    client?.then(
      (made) => made.end(),
      () => {},
    );
    client = undefined;
  };
  const { bringBack } = node;
  return {
    name: node.name,
    roles: node.roles,
    meshAddress: node.meshAddress,
    host: connection.host,
    advice,
    close,
    async run(script) {
      try {
        const { code, stdout, stderr } = await run(await open(), script, node.sudo);
        return { code, stdout: stdout.toString(), stderr };
      } catch (error) {
        close();
        throw error;
      }
    },
    bringBack:
      bringBack &&
      (async () => {
        close();
        await bringBack();
      }),
  };
}
