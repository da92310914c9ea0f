import { StringDecoder } from "node:string_decoder";
import type { Log } from "./log.ts";

export type Logging = "stdout" | "stderr" | "stdoutAndStderr" | "none";
export type Stream = "stdout" | "stderr";

/** Gathers what a command prints, and passes whole lines on to the log while it runs. */
export class Output {
  readonly #logging: Logging;
  readonly #log: Log;
  readonly #text = { stdout: "", stderr: "", both: "" };
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  #line = "";

  constructor(logging: Logging | undefined, log: Log) {
    this.#logging = logging ?? "stdoutAndStderr";
    this.#log = log;
  }

  write(stream: Stream, chunk: Buffer): void {
    const text = this.#decoders[stream].write(chunk);
    this.#text[stream] += text;
    this.#text.both += text;
    if (this.#logging !== stream && this.#logging !== "stdoutAndStderr") return;
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#log.status(line.replace(/\r$/, ""));
  }

  async end(): Promise<void> {
    if (this.#line !== "") this.#log.status(this.#line);
    this.#line = "";
    await this.#log.flushed();
  }

  /** One newline at the very end is taken off, no more. */
  get stdout(): string {
    return this.#text.stdout.replace(/\n$/, "");
  }

  get stderr(): string {
    return this.#text.stderr.replace(/\n$/, "");
  }

  /** The error the vendor's plugin gives for a command that failed. */
  failure(reason: string, command: string): Error {
    return new Error(`${reason}: running ${JSON.stringify(command)}:\n${this.#text.both}`);
  }
}
