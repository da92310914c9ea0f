/**
 * What every stand-in for a provider's plugin does as a process: it listens where the engine is told to look, and ends
 * with the engine.
 */
import grpc from "@grpc/grpc-js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { endTree, tree } from "../tools/processes.ts";

export interface Plugin {
  handlers(): Record<string, grpc.handleUnaryCall<never, unknown>>;
  /** Called before the process ends. */
  cancelAll?(): void;
}

/** @param make gets the engine's address, when the engine gave one */
export function serve(name: string, make: (engineAddress: string | undefined) => Plugin): void {
  const plugin = make(process.argv.slice(2).find((argument) => /:\d+$/.test(argument) && !argument.startsWith("-")));
  const server = new grpc.Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  server.addService(services.ResourceProviderService, plugin.handlers() as never);

  let ending = false;
  const end = async (code: number): Promise<void> => {
    if (ending) return;
    ending = true;
    plugin.cancelAll?.();
    await Promise.all(
      tree(process.pid)
        .slice(1)
        .map((pid) => endTree(pid)),
    );
    process.exit(code);
  };

  // An engine that was killed can't tell its plugins to stop.
  const engine = process.ppid;
  setInterval(() => {
    if (process.ppid !== engine) void end(1);
  }, 250).unref();
  // The engine ends a plugin with SIGINT; Ctrl-C doesn't come here, since plugins have a process group of their own.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void end(0));
  process.stdout.on("error", () => void end(1));

  server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error) {
      process.stderr.write(`${name} (stand-in): ${error.message}\n`);
      process.exit(1);
    }
    process.stdout.write(`${port}\n`);
  });
}
