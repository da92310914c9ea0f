/** MariaDB servers on loopback that replicate by GTID: the first is the primary, until `promote` makes another one it. */
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { DATABASE, Mariadb, PASSWORD, USER } from "./mariadb.ts";

/** An account that read_only holds for, unlike the harness's own. */
export const PLAIN = "plain";

export class MariadbGroup {
  readonly servers: Mariadb[];

  private constructor(servers: Mariadb[]) {
    this.servers = servers;
  }

  static async start(count: number, args: string[] = []): Promise<MariadbGroup> {
    const servers = await Promise.all(
      Array.from({ length: count }, (_, i) =>
        Mariadb.start({
          args: [
            "--log-bin=bin",
            `--server-id=${i + 1}`,
            "--log-slave-updates",
            "--gtid-strict-mode",
            "--binlog-format=ROW",
            // SET GLOBAL read_only waits for transactions that wait for a row of one that waits for it.
            "--innodb-lock-wait-timeout=1",
            ...args,
          ],
        }),
      ),
    );
    const group = new MariadbGroup(servers);
    const [first, ...others] = servers as [Mariadb, ...Mariadb[]];
    // What each start has written for itself is no part of what they share.
    for (const server of servers) await group.sql(server, "RESET MASTER; SET GLOBAL gtid_slave_pos = ''");
    for (const server of others) await group.follow(server, first);
    await group.sql(
      first,
      `CREATE USER ${PLAIN}@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON ${DATABASE}.* TO ${PLAIN}@'127.0.0.1'`,
    );
    await group.allCaughtUp(first);
    return group;
  }

  /** Unlike the server's own it does not hold up a load that runs in this process. */
  async sql(server: Mariadb, statement: string): Promise<string> {
    const options = ["--no-defaults", `--socket=${server.socket}`, "-uroot", "-N", "-B", "-e", statement];
    return (await promisify(execFile)("mariadb", options)).stdout;
  }

  async demote(server: Mariadb): Promise<void> {
    await this.sql(server, "SET GLOBAL read_only = ON");
  }

  async follow(server: Mariadb, primary: Mariadb): Promise<void> {
    await this.sql(
      server,
      `SET GLOBAL read_only = ON; STOP SLAVE; CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=${primary.port}, MASTER_USER='${USER}', MASTER_PASSWORD='${PASSWORD}', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1; START SLAVE`,
    );
  }

  async promote(server: Mariadb): Promise<void> {
    await this.sql(server, "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = OFF");
  }

  /** All that the primary has committed until now is applied on the server. */
  async caughtUp(server: Mariadb, primary: Mariadb): Promise<void> {
    const position = (await this.sql(primary, "SELECT @@gtid_binlog_pos")).trim();
    for (const deadline = Date.now() + 20_000; ; ) {
      if ((await this.sql(server, `SELECT MASTER_GTID_WAIT('${position}', 1)`)).trim() === "0") return;
      if (Date.now() > deadline) throw new Error(await this.sql(server, "SHOW SLAVE STATUS"));
      await sleep(50);
    }
  }

  async allCaughtUp(primary: Mariadb): Promise<void> {
    await Promise.all(
      this.servers.filter((server) => server !== primary).map((server) => this.caughtUp(server, primary)),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}
