/** MySQL's LOAD DATA LOCAL needs local_infile=ON on the server, which is off by default since 8.0. */
import type { Session } from "../sql-session.ts";

const ASK_MS = 30_000;

/** Whether the account may set global variables: SUPER, all privileges, or MySQL's own one for them. */
export async function maySetVariables(session: Session): Promise<boolean> {
  const rows = await session.query("SHOW GRANTS", ASK_MS);
  return rows
    .flatMap((row) => Object.values(row))
    .some((grant) =>
      /^GRANT [^'`]*\b(ALL PRIVILEGES|SUPER|SYSTEM_VARIABLES_ADMIN)\b[^'`]* ON \*\.\* /.test(String(grant)),
    );
}

/** For every session to come; those that are open keep what they have. */
export async function setLocalInfile(session: Session, value: "ON" | "OFF"): Promise<void> {
  await session.query(`SET GLOBAL local_infile=${value}`, ASK_MS);
}
