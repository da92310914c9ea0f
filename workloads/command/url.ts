/** A server's URL on the command line: `mysql://user@host:port/database?role=proxy`. */
import type { Target } from "../contract.ts";
import { PROTOCOLS, protocolOf } from "../drivers/protocols.ts";
import { suggestion } from "../options.ts";

export interface ParsedUrl {
  driver: "mysql" | "postgres";
  user: string;
  host: string;
  port: number;
  /** In place of host and port. */
  socket?: string;
  database: string;
  role: "any" | "primary" | "replica" | "proxy";
  /** What the URL's own parameters say about TLS. */
  tls?: Target["tls"];
}

const FORM = "mysql://user@host:port/database";
const ROLES = ["any", "primary", "replica", "proxy"];

/** The words of libpq and of MySQL's clients that mean one of our modes, and why the others mean none. */
const TLS_WORDS: Record<string, Target["tls"]["mode"] | null> = {
  disable: "off",
  disabled: "off",
  require: "require",
  required: "require",
  "verify-full": "verify",
  verify_identity: "verify",
  // These try TLS and go on without it, or leave the name unchecked: neither is one thing that a result could state.
  allow: null,
  prefer: null,
  preferred: null,
  "verify-ca": null,
  verify_ca: null,
};

/**
 * Throws one line on what is no such URL and on parameters that nobody would obey. A password in it is refused: it would
 * stand in the process list; so no message repeats the URL.
 */
export function parseUrl(text: string): ParsedUrl {
  let url: URL;
  try {
    // libpq leaves the host out when a socket is meant, which URL does not take.
    url = new URL(text.replace(/^(\w+:\/\/[^/?#@]*@)(?=[/?]|$)/, "$1localhost"));
  } catch {
    throw new Error(`--url: no URL; expected ${FORM}, and @ : / # ? % in a name written as %40 %3A %2F %23 %3F %25`);
  }
  if (url.password !== "")
    throw new Error(
      "--url: a password in it could be read in the process list: give it in MESHBENCH_DB_PASSWORD or --password-file",
    );
  const scheme = url.protocol.replace(/:$/, "");
  const driver = protocolOf(scheme);
  if (driver === undefined) throw new Error(`--url: ${scheme}://; expected mysql:// or postgres://`);
  if (url.hash !== "") throw new Error("--url: a # in it; expected %23 where a name has one");
  if (url.username === "") throw new Error(`--url: the user is missing; expected ${FORM}`);
  const { role, socket, tls } = parameters(url.searchParams, driver);
  const host = decoded(url.hostname.replace(/^\[(.*)\]$/, "$1"), "host") || "127.0.0.1";
  const path = socket ?? (host.startsWith("/") ? host : undefined);
  return {
    driver,
    user: decoded(url.username, "user"),
    host: path === undefined ? host : "localhost",
    port: url.port === "" ? PROTOCOLS[driver].port : Number(url.port),
    ...(path === undefined ? {} : { socket: path }),
    database: decoded(url.pathname.replace(/^\//, ""), "database") || "sbtest",
    role,
    ...(tls === undefined ? {} : { tls }),
  };
}

function decoded(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`--url: ${part} ${JSON.stringify(text)}; expected a % in it written as %25`);
  }
}

/** By the names that the servers' own clients have for them; `-` and `_` alike, in any case. */
function parameters(
  given: URLSearchParams,
  driver: ParsedUrl["driver"],
): { role: ParsedUrl["role"]; socket?: string; tls?: Target["tls"] } {
  const { parameters: allowed, socketIs, tlsWords } = PROTOCOLS[driver];
  let role: ParsedUrl["role"] = "any";
  let socket: string | undefined;
  let mode: Target["tls"]["mode"] | undefined;
  let caFile: string | undefined;
  for (const [written, value] of given) {
    const name = written.toLowerCase().replaceAll("_", "-");
    if (!allowed.includes(name))
      throw new Error(`--url: the parameter ${JSON.stringify(written)}${suggestion(name, allowed)}`);
    if (name === "role") {
      if (!ROLES.includes(value)) throw new Error(`--url: role=${value}; expected one of ${ROLES.join(", ")}`);
      role = value as ParsedUrl["role"];
    } else if (name === "socket" || name === "host") {
      if (!value.startsWith("/")) throw new Error(`--url: ${written}=${value}; expected the path of ${socketIs}`);
      socket = value;
    } else if (name === "ssl-mode" || name === "sslmode") {
      mode = TLS_WORDS[value.toLowerCase()] ?? undefined;
      if (mode === undefined) throw new Error(`--url: ${written}=${value}; expected ${tlsWords}`);
    } else caFile = value;
  }
  if (caFile !== undefined && mode !== "verify")
    throw new Error(
      "--url: a certificate authority without a mode that checks it; expected sslmode=verify-full with it",
    );
  return {
    role,
    ...(socket === undefined ? {} : { socket }),
    ...(mode === undefined ? {} : { tls: { mode, ...(caFile === undefined ? {} : { caFile }) } }),
  };
}
