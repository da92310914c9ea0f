/** The client for a target's protocol, loaded only when it is asked for. */
import type { Target } from "../contract.ts";
import type { Driver } from "./driver.ts";

export async function driverFor(name: Target["driver"]): Promise<Driver> {
  if (name === "mysql") return (await import("./mysql.ts")).mysqlDriver;
  return (await import("./postgres.ts")).postgresDriver;
}
