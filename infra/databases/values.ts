/** What the engines' configuration files and accounts are made from in the same way. Pure. */
import { createHash } from "node:crypto";
import { CONNECTION_HEADROOM, maxThreads } from "../config/counts.ts";
import type { Config } from "../config/schema.ts";

/** Names a text, so that another one runs a step again. 16 hexadecimal digits. */
export const fingerprint = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** What the server has to take. @param least the server's own default, below which nothing is gained */
export const connectionsOf = (config: Pick<Config, "profile">, least: number): number =>
  Math.max(least, maxThreads(config) + CONNECTION_HEADROOM);

/** Default of MariaDB and MySQL. */
export const MYSQL_CONNECTIONS = 151;

/** Default of PostgreSQL. */
export const POSTGRES_CONNECTIONS = 100;

/** The whole mesh, as MariaDB and MySQL write a network in an account: 10.99.0.% */
export const accountNetwork = ({ mesh }: Pick<Config, "mesh">): string => mesh.network.replace(/\.0\/24$/, ".%");

/** The last number of an address in the mesh's /24: no other node has it. */
export const serverId = (meshAddress: string): string => meshAddress.split(".").at(-1)!;
