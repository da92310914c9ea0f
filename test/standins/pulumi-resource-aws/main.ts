/**
 * A stand-in for the vendor's plugin of the Pulumi package `aws`, for tests without an account: what it keeps is in a moto
 * server, and every instance boots as a node on this machine. It never speaks with AWS. Which rules it has, and from where:
 * RULES.md. It is put on PATH by tests only.
 *
 * Environment: AWS_ENDPOINT_URL (moto), MESHBENCH_STANDIN_LAB.
 * Usage: pulumi-resource-aws [engine address]; prints the port it listens on.
 */
import grpc from "@grpc/grpc-js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { AwsProvider } from "./service.ts";

const engineAddress = process.argv.slice(2).find((argument) => /:\d+$/.test(argument) && !argument.startsWith("-"));
const server = new grpc.Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
server.addService(services.ResourceProviderService, new AwsProvider(engineAddress).handlers() as never);

// An engine that was killed can't tell its plugins to stop.
const engine = process.ppid;
setInterval(() => {
  if (process.ppid !== engine) process.exit(1);
}, 250).unref();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(0));
process.stdout.on("error", () => process.exit(1));

server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) {
    process.stderr.write(`pulumi-resource-aws (stand-in): ${error.message}\n`);
    process.exit(1);
  }
  process.stdout.write(`${port}\n`);
});
