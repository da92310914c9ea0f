/** The client for a target's protocol, loaded only when it is asked for. */
import type { Target } from "../contract.ts";
import type { Driver } from "./driver.ts";

export async function driverFor(name: Target["driver"]): Promise<Driver> {
  return DRIVERS[name]();
}

const DRIVERS: Record<Target["driver"], () => Promise<Driver>> = {
  mysql: async () => (await import("./mysql/driver.ts")).mysqlDriver,
  postgres: async () => (await import("./postgres/driver.ts")).postgresDriver,
};
