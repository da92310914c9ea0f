import grpc from "@grpc/grpc-js";
import plugin from "@pulumi/pulumi/proto/plugin_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import { changes } from "./diff.ts";
import { type Call, create, remove, update } from "./lifecycle.ts";
import { EngineLog } from "./log.ts";
import { check, isResourceType } from "./resources.ts";
import type { Value, Values } from "./values.ts";

const version = "1.2.1";
type Struct = InstanceType<typeof struct.Struct>;
type Handler = (request: never) => Promise<unknown>;

function read(properties: Struct | undefined): Values {
  return (properties?.toJavaScript() ?? {}) as Values;
}

function write(values: Values): Struct {
  return struct.Struct.fromJavaScript(values as { [key: string]: never });
}

/** `urn:pulumi:stack::project::parent$type::name` */
function resourceOf(urn: string): { type: string; name: string } {
  const [, , types = "", name = ""] = urn.split("::");
  return { type: types.split("$").pop() ?? "", name };
}

/** Values the user told the engine to ignore keep what they were. */
function ignoring(news: Values, olds: Values, ignored: string[]): Values {
  const kept = ignored
    .filter((key) => Object.hasOwn(olds, key))
    .map((key): [string, Value] => [key, olds[key] ?? null]);
  return { ...news, ...Object.fromEntries(kept) };
}

/** The engine's gRPC service `pulumirpc.ResourceProvider`, as far as the command package needs it. */
export class CommandProvider {
  #log: EngineLog | undefined;
  readonly #abort = new AbortController();

  constructor(engineAddress: string | undefined) {
    if (engineAddress) this.#log = new EngineLog(engineAddress);
  }

  cancelAll(): void {
    this.#abort.abort(new Error("context canceled"));
  }

  #call(request: { getUrn(): string; getPreview?(): boolean }): Call {
    const urn = request.getUrn();
    const { type, name } = resourceOf(urn);
    if (!isResourceType(type)) {
      throw new Error(
        `${type} is not supported by this stand-in for the vendor's command plugin; install the vendor's`,
      );
    }
    if (!this.#log) throw new Error("the engine gave no address to log to");
    return {
      type,
      name,
      preview: request.getPreview?.() ?? false,
      log: this.#log.forResource(urn),
      signal: this.#abort.signal,
    };
  }

  /** The handlers by the names grpc-js expects; each turns a request into a response or throws. */
  handlers(): Record<string, grpc.handleUnaryCall<never, unknown>> {
    const methods: Record<string, Handler> = {
      configure: async () =>
        new provider.ConfigureResponse().setAcceptsecrets(true).setSupportspreview(true).setAcceptresources(true),
      checkConfig: async (request: InstanceType<typeof provider.CheckRequest>) =>
        new provider.CheckResponse().setInputs(request.getNews()),
      diffConfig: async () => new provider.DiffResponse().setChanges(provider.DiffResponse.DiffChanges.DIFF_NONE),
      getPluginInfo: async () => new plugin.PluginInfo().setVersion(version),
      getSchema: async () => new provider.GetSchemaResponse().setSchema(JSON.stringify({ name: "command", version })),
      attach: async (request: InstanceType<typeof plugin.PluginAttach>) => {
        this.#log?.close();
        this.#log = new EngineLog(request.getAddress());
        return new empty.Empty();
      },
      cancel: async () => {
        this.cancelAll();
        return new empty.Empty();
      },
      check: (request) => this.#check(request),
      diff: (request) => this.#diff(request),
      create: (request) => this.#create(request),
      read: async (request: InstanceType<typeof provider.ReadRequest>) =>
        new provider.ReadResponse()
          .setId(request.getId())
          .setProperties(request.getProperties())
          .setInputs(request.getInputs()),
      update: (request) => this.#update(request),
      delete: (request) => this.#delete(request),
    };
    return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, unary(method)]));
  }

  async #check(request: InstanceType<typeof provider.CheckRequest>) {
    const { inputs, failures } = check(this.#call(request).type, read(request.getNews()));
    return new provider.CheckResponse()
      .setInputs(write(inputs))
      .setFailuresList(
        failures.map(({ property, reason }) => new provider.CheckFailure().setProperty(property).setReason(reason)),
      );
  }

  async #diff(request: InstanceType<typeof provider.DiffRequest>) {
    const ignored = request.getIgnorechangesList();
    const found = changes(
      read(request.getOldInputs()),
      ignoring(read(request.getNews()), read(request.getOlds()), ignored),
    );
    const { DIFF_SOME, DIFF_NONE } = provider.DiffResponse.DiffChanges;
    const response = new provider.DiffResponse()
      .setHasdetaileddiff(true)
      .setChanges(found.size > 0 ? DIFF_SOME : DIFF_NONE);
    const { Kind } = provider.PropertyDiff;
    for (const [path, change] of found) {
      // An item of `triggers` that changes replaces through `replaceOnChanges` of the SDK's resource.
      const replace = path === "triggers";
      const kind = {
        add: replace ? Kind.ADD_REPLACE : Kind.ADD,
        delete: replace ? Kind.DELETE_REPLACE : Kind.DELETE,
        update: replace ? Kind.UPDATE_REPLACE : Kind.UPDATE,
      }[change];
      response.getDetaileddiffMap().set(path, new provider.PropertyDiff().setKind(kind).setInputdiff(true));
      if (replace) response.addReplaces(path);
      response.addDiffs(path.split(/[.[]/)[0] ?? path);
    }
    return response;
  }

  async #create(request: InstanceType<typeof provider.CreateRequest>) {
    const { id, outputs } = await create(read(request.getProperties()), this.#call(request));
    return new provider.CreateResponse().setId(id).setProperties(write(outputs));
  }

  async #update(request: InstanceType<typeof provider.UpdateRequest>) {
    const olds = read(request.getOlds());
    const inputs = ignoring(read(request.getNews()), olds, request.getIgnorechangesList());
    return new provider.UpdateResponse().setProperties(write(await update(inputs, olds, this.#call(request))));
  }

  async #delete(request: InstanceType<typeof provider.DeleteRequest>) {
    await remove(read(request.getProperties()), this.#call(request));
    return new empty.Empty();
  }
}

function unary(method: Handler): grpc.handleUnaryCall<never, unknown> {
  return (call, callback) => {
    method(call.request).then(
      (response) => callback(null, response),
      (error: Error) => callback({ code: grpc.status.UNKNOWN, details: error.message }, null),
    );
  };
}
