/**
 * Writes a small request straight to a socket's handle, past the stream machinery: nothing is queued behind it, because
 * one statement is under way at a time, so a stream has nothing to do but to cost time (measured: 3 to 8 % of the CPU
 * per point select). The handle is Node's own inside; where it does not answer as Node 24 does, `socket.write` is used
 * and stays in use.
 */
import type net from "node:net";

/** What a handle gives back for a write that the kernel did not take at once. */
interface Pending {
  handle: unknown;
  oncomplete: (status: number) => void;
  buffer: Uint8Array;
}

interface Handle {
  /** 0: written; a negative number: the system's error; an object: under way. */
  writeBuffer?(request: null, bytes: Uint8Array): number | Pending;
}

let possible = true;

/** @param bytes unchanged until the answer has come */
export function writeDirectly(socket: net.Socket, bytes: Uint8Array): void {
  const handle = (socket as unknown as { _handle?: Handle | null })._handle;
  if (!possible || !handle || socket.connecting || typeof handle.writeBuffer !== "function") {
    socket.write(bytes);
    return;
  }
  let answer: number | Pending;
  try {
    answer = handle.writeBuffer(null, bytes);
  } catch {
    // A Node that wants a request object: it has written nothing.
    possible = false;
    socket.write(bytes);
    return;
  }
  if (answer === 0) return;
  if (typeof answer === "number") {
    socket.destroy(
      Object.assign(new Error(`write failed (${answer})`), { code: answer === -32 ? "EPIPE" : "ECONNRESET" }),
    );
    return;
  }
  answer.handle = handle;
  answer.buffer = bytes;
  answer.oncomplete = (status) => {
    if (status < 0) socket.destroy(Object.assign(new Error(`write failed (${status})`), { code: "ECONNRESET" }));
  };
}
