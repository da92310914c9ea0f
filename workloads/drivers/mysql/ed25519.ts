/**
 * MariaDB's client_ed25519: the server's 32 random bytes are signed with a key that the password is. It is Ed25519 with
 * the password, whatever its length, in place of the 32-byte seed (plugin/auth_ed25519 in MariaDB's source), which no
 * signing function takes; the curve's arithmetic is the library's.
 */
import { createHash } from "node:crypto";
import { Point } from "@noble/ed25519";

/** The order of the base point. */
const L = Point.CURVE().n;

/** @param scramble 32 bytes @returns the signature, 64 bytes */
export function signEd25519(password: string, scramble: Uint8Array): Buffer {
  const expanded = sha512(Buffer.from(password, "utf8"));
  const secret = Buffer.from(expanded.subarray(0, 32));
  secret[0] = (secret[0] as number) & 248;
  secret[31] = ((secret[31] as number) & 63) | 64;
  const a = littleEndian(secret) % L;
  const publicKey = Point.BASE.multiply(a).toBytes();
  const r = littleEndian(sha512(expanded.subarray(32), scramble)) % L;
  const commitment = Point.BASE.multiply(r).toBytes();
  const k = littleEndian(sha512(commitment, publicKey, scramble)) % L;
  const response = Buffer.alloc(32);
  let s = (r + k * a) % L;
  for (let i = 0; i < 32; i++, s >>= 8n) response[i] = Number(s & 0xffn);
  return Buffer.concat([commitment, response]);
}

function sha512(...parts: Uint8Array[]): Buffer {
  const hash = createHash("sha512");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function littleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
}
