/** What asks the database nodes beside a run: who takes the writes, and how far behind the others are. */
import type { RunSpec } from "../contract.ts";
import { driverFor } from "../drivers/index.ts";
import { Heartbeat } from "./lag/heartbeat.ts";
import { primariesOf } from "./roles/roles.ts";
import { FIRST_ROUND_MS, RoleWatch, roleQuestion } from "./roles/watch.ts";
import { within } from "./within.ts";

/** Undefined where the spec names no nodes to ask. */
export async function watchRoles(spec: RunSpec, password: string): Promise<RoleWatch | undefined> {
  const { roles, database, user, tls, connectTimeoutMs } = spec.target;
  const question = roleQuestion(spec);
  if (roles === undefined || question === undefined) return undefined;
  const driver = await driverFor(spec.target.driver);
  const options = { database, user, password, tls, connectTimeoutMs, preparedStatements: "auto" } as const;
  const watch = new RoleWatch(roles, question, driver, options);
  await within(watch.start(), FIRST_ROUND_MS);
  return watch;
}

/** Undefined where it is not asked for, or cannot be had: that is said and costs the run nothing else. */
export async function startHeartbeat(
  spec: RunSpec,
  { password, onLine }: { password: string; onLine(line: string): void },
  roles: RoleWatch | undefined,
  note: (text: string) => void,
): Promise<Heartbeat | undefined> {
  const { heartbeat, observe, target } = spec;
  if (heartbeat === undefined || observe.length < 2) return undefined;
  const { database, user, tls } = target;
  const driver = await driverFor(target.driver);
  const writers = (): readonly string[] =>
    roles === undefined ? observe.map(({ name }) => name) : primariesOf(roles.current);
  const probe = new Heartbeat({ observe, heartbeat }, writers, driver, {
    database,
    user,
    password,
    tls,
    preparedStatements: "auto",
  });
  try {
    await probe.start();
    return probe;
  } catch (error) {
    const text = `replication lag was not measured: ${(error as Error).message}`;
    onLine(text);
    note(text);
    await probe.end();
    return undefined;
  }
}
