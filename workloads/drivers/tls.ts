/** TLS as both client libraries take it. */
import { readFileSync } from "node:fs";
import type { Target } from "../contract.ts";

export interface TlsSettings {
  ca?: string;
  /** Whether the certificate is checked; the library compares the server's name as well then. */
  rejectUnauthorized: boolean;
}

/** @throws one line when the authority's certificate can't be read */
export function tlsSettings(tls: Target["tls"]): TlsSettings | undefined {
  if (tls.mode === "off") return undefined;
  const rejectUnauthorized = tls.mode === "verify";
  if (tls.caFile === undefined) return { rejectUnauthorized };
  try {
    return { ca: readFileSync(tls.caFile, "utf8"), rejectUnauthorized };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`target.tls.caFile: ${tls.caFile}; expected a readable file (${code ?? "unreadable"})`);
  }
}
