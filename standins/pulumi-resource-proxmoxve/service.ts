import { isDeepStrictEqual } from "node:util";
import grpc from "@grpc/grpc-js";
import plugin from "@pulumi/pulumi/proto/plugin_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import { plainObject, unknown, type Value, type Values } from "../pulumi-resource-command/values.ts";
import { Guests, type Made } from "./guests.ts";
import { configFailures, type Failure, failuresOf, isKnownType, replaces } from "./rules.ts";

const version = "8.6.0";
type Struct = InstanceType<typeof struct.Struct>;

const read = (properties: Struct | undefined): Values => (properties?.toJavaScript() ?? {}) as Values;
const write = (values: Values): Struct => struct.Struct.fromJavaScript(values as { [key: string]: never });

function typeOf(request: { getUrn(): string }): string {
  const type = (request.getUrn().split("::")[2] ?? "").split("$").pop() ?? "";
  if (!isKnownType(type))
    throw new Error(
      `${type} is not supported by this stand-in for the vendor's proxmoxve plugin; install the vendor's`,
    );
  return type;
}

const kindOf = (type: string): "file" | "qemu" | "lxc" =>
  type.endsWith("File") ? "file" : type.endsWith("VmLegacy") ? "qemu" : "lxc";

/** What a preview does not know yet. */
const COMPUTED: Record<string, string[]> = {
  file: ["size"],
  qemu: ["vmId", "macAddresses", "ipv4Addresses", "networkInterfaceNames"],
  lxc: ["vmId", "ipv4"],
};

/** The engine's gRPC service `pulumirpc.ResourceProvider`, as far as this project's Proxmox sites need it. */
export class ProxmoxProvider {
  #guests: Guests | undefined;

  get guests(): Guests {
    if (!this.#guests) throw new Error("the provider is not configured");
    return this.#guests;
  }

  handlers(): Record<string, grpc.handleUnaryCall<never, unknown>> {
    const methods: Record<string, (request: never) => Promise<unknown>> = {
      checkConfig: async (request: InstanceType<typeof provider.CheckRequest>) => {
        const news = plainObject(read(request.getNews()));
        return new provider.CheckResponse()
          .setInputs(request.getNews())
          .setFailuresList(failed(configFailures(opened(news))));
      },
      diffConfig: async () => new provider.DiffResponse().setChanges(provider.DiffResponse.DiffChanges.DIFF_NONE),
      configure: async (request: InstanceType<typeof provider.ConfigureRequest>) => {
        const { endpoint, apiToken, username, password, insecure } = opened(
          plainObject(read(request.getArgs())),
        ) as Record<string, Value>;
        const login = apiToken
          ? { apiToken: String(apiToken) }
          : { username: "root@pam" as const, password: String(password ?? username ?? "") };
        this.#guests = new Guests({ endpoint: String(endpoint), login, insecure: String(insecure) === "true" });
        return new provider.ConfigureResponse()
          .setAcceptsecrets(true)
          .setSupportspreview(true)
          .setAcceptresources(true);
      },
      getPluginInfo: async () => new plugin.PluginInfo().setVersion(version),
      getSchema: async () => new provider.GetSchemaResponse().setSchema(JSON.stringify({ name: "proxmoxve", version })),
      attach: async () => new empty.Empty(),
      cancel: async () => new empty.Empty(),
      check: async (request: InstanceType<typeof provider.CheckRequest>) =>
        new provider.CheckResponse()
          .setInputs(request.getNews())
          .setFailuresList(failed(failuresOf(typeOf(request), plainObject(read(request.getNews()))))),
      diff: (request) => this.#diff(request),
      create: (request) => this.#create(request),
      read: (request) => this.#read(request),
      update: (request) => this.#update(request),
      delete: (request) => this.#delete(request),
    };
    return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, unary(method)]));
  }

  async #diff(request: InstanceType<typeof provider.DiffRequest>) {
    const type = typeOf(request);
    const [olds, news, ignored] = [
      plainObject(read(request.getOldInputs())),
      plainObject(read(request.getNews())),
      request.getIgnorechangesList(),
    ];
    const keys = [...new Set([...Object.keys(olds), ...Object.keys(news)])].filter(
      (key) => !key.startsWith("__") && !isDeepStrictEqual(olds[key], news[key]),
    );
    // As the provider: a disk without `speed` is a change at every run, unless the program says otherwise.
    const disks = Array.isArray(news["disks"]) ? news["disks"] : [];
    if (
      !keys.includes("disks") &&
      disks.some((disk, i) => (disk as Values)["speed"] === undefined && !ignored.includes(`disks[${i}].speed`))
    )
      keys.push("disks");
    const { DIFF_SOME, DIFF_NONE } = provider.DiffResponse.DiffChanges;
    const replacing = keys.filter((key) => replaces(type, key, olds, news));
    return new provider.DiffResponse()
      .setChanges(keys.length > 0 ? DIFF_SOME : DIFF_NONE)
      .setDiffsList(keys)
      .setReplacesList(replacing)
      .setDeletebeforereplace(replacing.length > 0);
  }

  async #create(request: InstanceType<typeof provider.CreateRequest>) {
    const kind = kindOf(typeOf(request));
    const properties = read(request.getProperties());
    if (request.getPreview())
      return new provider.CreateResponse().setProperties(
        write({ ...properties, ...Object.fromEntries(COMPUTED[kind]!.map((key) => [key, unknown])) }),
      );
    const inputs = plainObject(properties);
    const made: Made = await (kind === "file"
      ? this.guests.createFile(inputs)
      : kind === "qemu"
        ? this.guests.createVm(inputs)
        : this.guests.createContainer(inputs));
    return new provider.CreateResponse().setId(made.id).setProperties(write(made.outputs));
  }

  async #read(request: InstanceType<typeof provider.ReadRequest>) {
    const kind = kindOf(typeOf(request));
    const state = plainObject(read(request.getProperties()));
    const node = String(state["nodeName"]),
      id = request.getId();
    const there = await this.guests.exists(
      kind === "file"
        ? `/nodes/${node}/storage/${String(state["datastoreId"])}/content/${id}`
        : `/nodes/${node}/${kind}/${id}/config`,
    );
    if (!there) return new provider.ReadResponse();
    return new provider.ReadResponse().setId(id).setProperties(request.getProperties()).setInputs(request.getInputs());
  }

  async #update(request: InstanceType<typeof provider.UpdateRequest>) {
    const kind = kindOf(typeOf(request));
    const [olds, news] = [plainObject(read(request.getOlds())), plainObject(read(request.getNews()))];
    const kept = Object.fromEntries(COMPUTED[kind]!.map((key) => [key, olds[key] ?? null]));
    if (!request.getPreview() && kind !== "file") await this.guests.update(kind, request.getId(), news, olds);
    const cards: Values = kind === "lxc" ? { networkInterfaces: olds["networkInterfaces"] ?? [] } : {};
    return new provider.UpdateResponse().setProperties(write({ ...news, ...kept, ...cards }));
  }

  async #delete(request: InstanceType<typeof provider.DeleteRequest>) {
    const kind = kindOf(typeOf(request));
    const state = plainObject(read(request.getProperties()));
    await (kind === "file"
      ? this.guests.deleteFile(request.getId(), state)
      : this.guests.remove(kind, request.getId(), state));
    return new empty.Empty();
  }
}

/** Configuration values that are not text come as JSON in text. */
function opened(values: Values): Values {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value === unknown ? null : value]));
}

const failed = (failures: Failure[]) =>
  failures.map(({ property, reason }) => new provider.CheckFailure().setProperty(property).setReason(reason));

function unary(method: (request: never) => Promise<unknown>): grpc.handleUnaryCall<never, unknown> {
  return (call, callback) => {
    method(call.request).then(
      (response) => callback(null, response),
      (error: Error) => callback({ code: grpc.status.UNKNOWN, details: error.message }, null),
    );
  };
}
