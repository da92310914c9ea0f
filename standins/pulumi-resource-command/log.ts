import grpc from "@grpc/grpc-js";
import engineRpc from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engine from "@pulumi/pulumi/proto/engine_pb.js";

export type Severity = "debug" | "info" | "warning" | "error";

export interface Log {
  /** A lasting line under the resource. */
  message(severity: Severity, text: string): void;
  /** A passing line in the resource's status column. */
  status(text: string): void;
  /** Resolves when every line so far has arrived. */
  flushed(): Promise<void>;
}

/** Writes to the engine's log; lines keep their order. */
export class EngineLog {
  readonly #client: InstanceType<typeof engineRpc.EngineClient>;

  constructor(address: string) {
    this.#client = new engineRpc.EngineClient(address, grpc.credentials.createInsecure());
  }

  forResource(urn: string): Log {
    let tail: Promise<void> = Promise.resolve();
    const send = (severity: Severity, text: string, ephemeral: boolean) => {
      const request = new engine.LogRequest();
      request.setSeverity(engine.LogSeverity[severity.toUpperCase() as Uppercase<Severity>]);
      request.setMessage(text);
      request.setUrn(urn);
      request.setEphemeral(ephemeral);
      // A line that can't be delivered must not fail the command it belongs to.
      tail = tail.then(() => new Promise((resolve) => this.#client.log(request, () => resolve())));
    };
    return {
      message: (severity, text) => send(severity, text, false),
      status: (text) => send("info", text, true),
      flushed: () => tail,
    };
  }

  close(): void {
    this.#client.close();
  }
}
