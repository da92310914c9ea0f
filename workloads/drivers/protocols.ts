/** How servers of each protocol are addressed on a command line, by the words of their own clients. */
import type { Target } from "../contract.ts";

export interface Protocol {
  readonly port: number;
  /** Schemes of a URL. */
  readonly schemes: readonly string[];
  /** Parameters of a URL, the protocol's own words first. */
  readonly parameters: readonly string[];
  /** What the path of a socket names. */
  readonly socketIs: string;
  readonly tlsWords: string;
}

export const PROTOCOLS: Record<Target["driver"], Protocol> = {
  mysql: {
    port: 3306,
    schemes: ["mysql", "mariadb"],
    parameters: ["role", "socket", "ssl-mode", "sslmode", "ssl-ca", "sslrootcert"],
    socketIs: "a socket",
    tlsWords: "DISABLED, REQUIRED or VERIFY_IDENTITY",
  },
  postgres: {
    port: 5432,
    schemes: ["postgres", "postgresql", "cockroachdb"],
    parameters: ["role", "host", "socket", "sslmode", "ssl-mode", "sslrootcert", "ssl-ca"],
    socketIs: "the directory with the server's socket",
    tlsWords: "disable, require or verify-full",
  },
};

export const protocolOf = (scheme: string): Target["driver"] | undefined =>
  (Object.keys(PROTOCOLS) as Target["driver"][]).find((name) => PROTOCOLS[name].schemes.includes(scheme));
