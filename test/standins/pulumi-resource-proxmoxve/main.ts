/**
 * A stand-in for the vendor's plugin of the Pulumi package `proxmoxve`, version 8.6.0, for tests: download.File, VmLegacy and
 * ContainerLegacy, over gRPC as the engine starts any plugin. It talks to the Proxmox API that the configuration names, and
 * gives every guest that it starts a node of the laboratory on this machine. RULES.md: what it checks, and where that is from.
 *
 * Usage: pulumi-resource-proxmoxve [engine address]; prints the port it listens on. Environment: MESHBENCH_STANDIN_LAB, the
 * laboratory whose sites have the names of the stack's sites.
 */
import grpc from "@grpc/grpc-js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { endTree, tree } from "../../../tools/processes.ts";
import { ProxmoxProvider } from "./service.ts";

const engineAddress = process.argv.slice(2).find((argument) => /:\d+$/.test(argument) && !argument.startsWith("-"));
const provider = new ProxmoxProvider(engineAddress);
const server = new grpc.Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
server.addService(services.ResourceProviderService, provider.handlers() as never);

let ending = false;
async function end(code: number): Promise<void> {
  if (ending) return;
  ending = true;
  await Promise.all(tree(process.pid).slice(1).map((pid) => endTree(pid)));
  process.exit(code);
}

// An engine that was killed can't tell its plugins to stop.
const engine = process.ppid;
setInterval(() => {
  if (process.ppid !== engine) void end(1);
}, 250).unref();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void end(0));
process.stdout.on("error", () => void end(1));

server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) {
    process.stderr.write(`pulumi-resource-proxmoxve (stand-in): ${error.message}\n`);
    process.exit(1);
  }
  process.stdout.write(`${port}\n`);
});
