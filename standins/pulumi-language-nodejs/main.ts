/**
 * A stand-in for the vendor's language host for Node.js programs, on the LanguageServer that the
 * SDK's automation API uses. It runs the program in its own process. The vendor's host is used
 * wherever it's installed.
 *
 * Usage: pulumi-language-nodejs [options] <engine address>; prints the port it listens on.
 */
import { spawn } from "node:child_process";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import grpc from "@grpc/grpc-js";
import * as pulumi from "@pulumi/pulumi";
import * as sdkServer from "@pulumi/pulumi/automation/server.js";
import services from "@pulumi/pulumi/proto/language_grpc_pb.js";
import language from "@pulumi/pulumi/proto/language_pb.js";

type Callback<T> = (error: Partial<grpc.ServiceError> | null | undefined, response?: T) => void;
type RunRequest = InstanceType<typeof language.RunRequest>;
type InstallRequest = InstanceType<typeof language.InstallDependenciesRequest>;
type RunResponse = InstanceType<typeof language.RunResponse>;

async function load(request: RunRequest): Promise<unknown> {
  const info = request.getInfo();
  const directory = info?.getProgramDirectory() ?? request.getPwd();
  const module: Record<string, unknown> = await import(
    pathToFileURL(join(directory, info?.getEntryPoint() ?? "")).href
  );
  const exported = "default" in module ? module["default"] : { ...module };
  return typeof exported === "function" ? await exported() : exported;
}

/** The SDK keeps this class out of its type declarations. */
const { LanguageServer } = sdkServer as unknown as {
  LanguageServer: new (
    program: () => Promise<unknown>,
  ) => {
    program: () => Promise<unknown>;
    run(call: { request: RunRequest }, callback: Callback<RunResponse>): void;
    getPluginInfo(call: unknown, callback: Callback<unknown>): void;
  };
};

class NodeLanguageHost extends LanguageServer {
  constructor() {
    super(async () => undefined);
  }

  override run(call: { request: RunRequest }, callback: Callback<RunResponse>): void {
    const { request } = call;
    process.chdir(request.getPwd());
    // The SDK's server leaves out the project's folder, which programs ask for: its store takes it from there, as under
    // the vendor's host.
    process.env["PULUMI_NODEJS_ROOT_DIRECTORY"] = request.getInfo()?.getRootDirectory() ?? "";
    this.program = () => load(request);
    let answered = false;
    super.run(call, (error, response) => {
      if (answered) return; // the SDK answers a second time after an error
      answered = true;
      const failed = new language.RunResponse();
      // What the SDK has logged already isn't said again by an engine that is told to bail out.
      const answer =
        error && (pulumi.log.hasErrors() ? failed.setBail(true) : failed.setError(error.message ?? String(error)));
      callback(null, answer || response);
      // The engine ends this process with a signal, which leaves no time to keep what was compiled.
      flushCompileCache();
    });
  }

  getRequiredPackages(_call: unknown, callback: Callback<unknown>): void {
    callback(null, new language.GetRequiredPackagesResponse());
  }

  /** `pulumi install`: the lock file's packages, what npm says shown as it comes. */
  installDependencies(call: grpc.ServerWritableStream<InstallRequest, unknown>): void {
    const directory = call.request.getInfo()?.getProgramDirectory() || call.request.getDirectory();
    const npm = spawn("npm", ["ci"], { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
    npm.stdout.on("data", (text: Buffer) => call.write(new language.InstallDependenciesResponse().setStdout(text)));
    npm.stderr.on("data", (text: Buffer) => call.write(new language.InstallDependenciesResponse().setStderr(text)));
    npm.once("error", (error) => call.destroy(error));
    npm.once("close", (code) => (code === 0 ? call.end() : call.destroy(new Error(`npm ci ended with code ${code}`))));
  }

  about(_call: unknown, callback: Callback<unknown>): void {
    callback(null, new language.AboutResponse().setExecutable(process.execPath).setVersion(process.version));
  }
}

const engine = process.ppid;
setInterval(() => {
  if (process.ppid !== engine) process.exit(1);
}, 250).unref();

const server = new grpc.Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
const host = new NodeLanguageHost();
const method = (name: keyof NodeLanguageHost) => (host[name] as (...args: never[]) => void).bind(host);
server.addService(services.LanguageRuntimeService, {
  run: method("run"),
  about: method("about"),
  getRequiredPackages: method("getRequiredPackages"),
  getPluginInfo: method("getPluginInfo"),
  installDependencies: method("installDependencies"),
} as never);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) {
    process.stderr.write(`pulumi-language-nodejs (stand-in): ${error.message}\n`);
    process.exit(1);
  }
  process.stdout.write(`${port}\n`);
});
