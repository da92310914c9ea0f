import type { EC2Client } from "@aws-sdk/client-ec2";
import grpc from "@grpc/grpc-js";
import plugin from "@pulumi/pulumi/proto/plugin_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import { changes } from "../pulumi-resource-command/diff.ts";
import { EngineLog } from "../pulumi-resource-command/log.ts";
import { plainObject, unknown, type Values } from "../pulumi-resource-command/values.ts";
import { connect, requireAccount } from "./client.ts";
import { eipAssociation } from "./eip-association.ts";
import { getAmi } from "./images.ts";
import { instance } from "./instance.ts";
import { type Call, check, type Kind } from "./kind.ts";
import { eip, internetGateway, route, routeTable, routeTableAssociation, subnet, vpc } from "./network.ts";
import { egressRule, ingressRule, keyPair, securityGroup } from "./security.ts";

const version = "7.48.0";

const KINDS: Record<string, Kind> = {
  "aws:ec2/vpc:Vpc": vpc,
  "aws:ec2/subnet:Subnet": subnet,
  "aws:ec2/internetGateway:InternetGateway": internetGateway,
  "aws:ec2/routeTable:RouteTable": routeTable,
  "aws:ec2/route:Route": route,
  "aws:ec2/routeTableAssociation:RouteTableAssociation": routeTableAssociation,
  "aws:ec2/eip:Eip": eip,
  "aws:ec2/eipAssociation:EipAssociation": eipAssociation,
  "aws:ec2/keyPair:KeyPair": keyPair,
  "aws:ec2/securityGroup:SecurityGroup": securityGroup,
  "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": ingressRule,
  "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": egressRule,
  "aws:ec2/instance:Instance": instance,
};

type Struct = InstanceType<typeof struct.Struct>;
type Handler = (request: never) => Promise<unknown>;

const read = (properties: Struct | undefined): Values => (properties?.toJavaScript() ?? {}) as Values;
const write = (values: Values): Struct => struct.Struct.fromJavaScript(values as { [key: string]: never });

/** `urn:pulumi:stack::project::parent$type::name` */
function resourceOf(urn: string): { type: string; name: string; kind: Kind } {
  const [, , types = "", name = ""] = urn.split("::");
  const type = types.split("$").pop() ?? "";
  const kind = KINDS[type];
  if (!kind)
    throw new Error(`${type} is not supported by this stand-in for the vendor's AWS plugin; install the vendor's`);
  return { type, name, kind };
}

/** What the user told the engine to ignore keeps what it was. */
function ignoring(news: Values, olds: Values, ignored: string[]): Values {
  return {
    ...news,
    ...Object.fromEntries(ignored.filter((key) => Object.hasOwn(olds, key)).map((key) => [key, olds[key] ?? null])),
  };
}

/**
 * The engine's gRPC service `pulumirpc.ResourceProvider`, as far as sites of kind aws need it. One per explicit
 * provider, hence per region.
 */
export class AwsProvider {
  #log: EngineLog | undefined;
  #region = "";
  #client: EC2Client | undefined;

  constructor(engineAddress: string | undefined) {
    if (engineAddress) this.#log = new EngineLog(engineAddress);
  }

  #call(urn: string, name: string): Call {
    if (!this.#log) throw new Error("the engine gave no address to log to");
    this.#client ??= connect(this.#region);
    return { ec2: this.#client, region: this.#region, name, log: this.#log.forResource(urn) };
  }

  handlers(): Record<string, grpc.handleUnaryCall<never, unknown>> {
    const methods: Record<string, Handler> = {
      configure: async (request: InstanceType<typeof provider.ConfigureRequest>) => {
        const args = plainObject(read(request.getArgs()));
        this.#region = String(args["region"] ?? "");
        // As text: providers get their configuration as JSON of JSON.
        const allowed = args["allowedAccountIds"];
        await requireAccount(typeof allowed === "string" ? (JSON.parse(allowed) as string[]) : undefined, this.#region);
        return new provider.ConfigureResponse()
          .setAcceptsecrets(true)
          .setSupportspreview(true)
          .setAcceptresources(true)
          .setAcceptoutputs(true);
      },
      checkConfig: async (request: InstanceType<typeof provider.CheckRequest>) => {
        const response = new provider.CheckResponse().setInputs(request.getNews());
        if (read(request.getNews())["region"] === undefined)
          response.addFailures(
            new provider.CheckFailure()
              .setProperty("region")
              .setReason("Invalid provider configuration: the region: missing"),
          );
        return response;
      },
      diffConfig: async () => new provider.DiffResponse().setChanges(provider.DiffResponse.DiffChanges.DIFF_NONE),
      getPluginInfo: async () => new plugin.PluginInfo().setVersion(version),
      getSchema: async () => new provider.GetSchemaResponse().setSchema(JSON.stringify({ name: "aws", version })),
      attach: async (request: InstanceType<typeof plugin.PluginAttach>) => {
        this.#log?.close();
        this.#log = new EngineLog(request.getAddress());
        return new empty.Empty();
      },
      cancel: async () => new empty.Empty(),
      invoke: (request) => this.#invoke(request),
      check: (request) => this.#check(request),
      diff: (request) => this.#diff(request),
      create: (request) => this.#create(request),
      read: (request) => this.#read(request),
      update: (request) => this.#update(request),
      delete: (request) => this.#delete(request),
    };
    return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, unary(method)]));
  }

  async #invoke(request: InstanceType<typeof provider.InvokeRequest>) {
    if (request.getTok() !== "aws:ec2/getAmi:getAmi")
      throw new Error(`${request.getTok()} is not supported by this stand-in for the vendor's AWS plugin`);
    this.#client ??= connect(this.#region);
    return new provider.InvokeResponse().setReturn(write(await getAmi(read(request.getArgs()), this.#client)));
  }

  async #check(request: InstanceType<typeof provider.CheckRequest>) {
    const { type, kind } = resourceOf(request.getUrn());
    const failures = check(type, kind, read(request.getNews()));
    return new provider.CheckResponse()
      .setInputs(request.getNews())
      .setFailuresList(
        failures.map(({ property, reason }) => new provider.CheckFailure().setProperty(property).setReason(reason)),
      );
  }

  async #diff(request: InstanceType<typeof provider.DiffRequest>) {
    const { kind } = resourceOf(request.getUrn());
    const olds = read(request.getOldInputs());
    const found = changes(olds, ignoring(read(request.getNews()), olds, request.getIgnorechangesList()));
    const { DIFF_SOME, DIFF_NONE } = provider.DiffResponse.DiffChanges;
    const response = new provider.DiffResponse()
      .setHasdetaileddiff(true)
      .setChanges(found.size > 0 ? DIFF_SOME : DIFF_NONE);
    const { Kind: Change } = provider.PropertyDiff;
    for (const [path, change] of found) {
      const top = path.split(/[.[]/)[0] ?? path;
      const replace =
        kind.update === undefined ||
        kind.replaced.some((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`));
      const which = {
        add: replace ? Change.ADD_REPLACE : Change.ADD,
        delete: replace ? Change.DELETE_REPLACE : Change.DELETE,
        update: replace ? Change.UPDATE_REPLACE : Change.UPDATE,
      }[change];
      response.getDetaileddiffMap().set(path, new provider.PropertyDiff().setKind(which).setInputdiff(true));
      if (replace) response.addReplaces(path);
      response.addDiffs(top);
    }
    return response;
  }

  async #create(request: InstanceType<typeof provider.CreateRequest>) {
    const { kind, name } = resourceOf(request.getUrn());
    const inputs = read(request.getProperties());
    if (request.getPreview()) {
      const computed = Object.fromEntries(kind.computed.map((key) => [key, unknown]));
      return new provider.CreateResponse().setId("").setProperties(write({ ...computed, ...inputs }));
    }
    const { id, outputs } = await kind.create(inputs, this.#call(request.getUrn(), name));
    return new provider.CreateResponse().setId(id).setProperties(write(outputs));
  }

  async #read(request: InstanceType<typeof provider.ReadRequest>) {
    const { kind, name } = resourceOf(request.getUrn());
    const now = await kind.read(request.getId(), read(request.getProperties()), this.#call(request.getUrn(), name));
    if (now === undefined) return new provider.ReadResponse().setId("");
    // What changed behind our back becomes an input, so that the next run puts it right.
    const inputs = Object.fromEntries(
      Object.entries(read(request.getInputs())).map(([key, value]) => [key, now[key] ?? value]),
    );
    return new provider.ReadResponse().setId(request.getId()).setProperties(write(now)).setInputs(write(inputs));
  }

  async #update(request: InstanceType<typeof provider.UpdateRequest>) {
    const { kind, name } = resourceOf(request.getUrn());
    const olds = read(request.getOlds());
    const inputs = ignoring(read(request.getNews()), olds, request.getIgnorechangesList());
    if (request.getPreview() || !kind.update)
      return new provider.UpdateResponse().setProperties(write({ ...olds, ...inputs }));
    return new provider.UpdateResponse().setProperties(
      write(await kind.update(request.getId(), inputs, olds, this.#call(request.getUrn(), name))),
    );
  }

  async #delete(request: InstanceType<typeof provider.DeleteRequest>) {
    const { kind, name } = resourceOf(request.getUrn());
    await kind.remove(request.getId(), read(request.getProperties()), this.#call(request.getUrn(), name));
    return new empty.Empty();
  }
}

function unary(method: Handler): grpc.handleUnaryCall<never, unknown> {
  return (call, callback) => {
    method(call.request).then(
      (response) => callback(null, response),
      (error: Error) => callback({ code: grpc.status.UNKNOWN, details: error.message || String(error) }, null),
    );
  };
}
