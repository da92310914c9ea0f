/**
 * A stand-in for the vendor's plugin of the Pulumi package `command`, version 1.2.1, for machines
 * that can't install it: local.Command, remote.Command and remote.CopyToRemote, over gRPC as the
 * engine starts any plugin. The vendor's plugin is used wherever it's installed.
 *
 * Usage: pulumi-resource-command [engine address]; prints the port it listens on.
 */
import grpc from "@grpc/grpc-js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { endTree, tree } from "../../../tools/processes.ts";
import { CommandProvider } from "./service.ts";

const engineAddress = process.argv.slice(2).find((argument) => /:\d+$/.test(argument) && !argument.startsWith("-"));
const provider = new CommandProvider(engineAddress);
const server = new grpc.Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
server.addService(services.ResourceProviderService, provider.handlers() as never);

let ending = false;
async function end(code: number): Promise<void> {
  if (ending) return;
  ending = true;
  provider.cancelAll();
  await Promise.all(tree(process.pid).slice(1).map((pid) => endTree(pid)));
  process.exit(code);
}

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
    process.stderr.write(`pulumi-resource-command (stand-in): ${error.message}\n`);
    process.exit(1);
  }
  process.stdout.write(`${port}\n`);
});
