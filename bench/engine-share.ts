/**
 * For a machine that others use: a control group that gives all processes in it together a set share of their core,
 * however many threads or sessions they have. Needs root. Linux cgroup v1 (cpu.shares) or v2 (cpu.weight).
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const V1 = "/sys/fs/cgroup/cpu";
const V2 = "/sys/fs/cgroup";

export class ShareGroup {
  readonly #directory: string;

  /** times: how many ordinary processes' worth of the core. Throws when groups can't be made here. */
  constructor(name: string, times: number) {
    const old = existsSync(join(V1, "cpu.shares"));
    this.#directory = join(old ? V1 : V2, `meshbench-${process.pid}-${name}`);
    try {
      mkdirSync(this.#directory);
      writeFileSync(
        join(this.#directory, old ? "cpu.shares" : "cpu.weight"),
        String(Math.round((old ? 1024 : 100) * times)),
      );
    } catch (error) {
      throw new Error(
        `--share: no control group with a CPU share can be made here (${(error as NodeJS.ErrnoException).code ?? (error as Error).message}); it needs root`,
      );
    }
  }

  /** The process and all that it starts from now on. */
  add(pid: number): void {
    writeFileSync(join(this.#directory, "cgroup.procs"), String(pid));
  }

  /** Once its processes have ended. */
  async remove(): Promise<void> {
    for (let i = 0; i < 50; i++) {
      try {
        return rmdirSync(this.#directory);
      } catch {
        await sleep(100);
      }
    }
  }
}
