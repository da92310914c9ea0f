import { mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { checkout, ToolError } from "../paths.ts";
import { type Say, withProgress } from "../progress.ts";
import { ENGINE_GB } from "../start/disk.ts";
import { findGo } from "./go.ts";

export const moduleFolder = join(checkout, "tools", "pulumi");

/**
 * Builds the Pulumi CLI from its Go module, pinned by tools/pulumi/go.mod, to `target`. The version
 * is linked in, because without it `pulumi version` is empty and the automation API refuses the CLI.
 */
export async function buildEngine(version: string, target: string, say: Say): Promise<void> {
  const go = await findGo(version, say);
  const stamp = `-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${version}`;
  const unfinished = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true });
  say(`Building Pulumi ${version} from its Go module (once; about 4 minutes on 2 cores).`);
  try {
    const build = execa(
      go,
      ["build", "-ldflags", `-s -w ${stamp}`, "-o", unfinished, "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"],
      {
        cwd: moduleFolder,
        env: { ...process.env, GOFLAGS: "-mod=readonly", GOWORK: "off" },
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    await withProgress(`Building Pulumi ${version}`, say, build);
    renameSync(unfinished, target);
  } catch (error) {
    const { stderr = "", message } = error as { stderr?: string; message: string };
    const lines = (stderr || message)
      .trim()
      .split("\n")
      .filter((line) => !line.startsWith("go: downloading"));
    throw new ToolError(
      `Pulumi ${version} could not be built: ${lines.slice(-3).join("; ")}. Check that the Go module proxy (${process.env["GOPROXY"] ?? "go env GOPROXY"}) answers and that there are ${ENGINE_GB} GB of free disk, or put Pulumi on PATH.`,
    );
  } finally {
    rmSync(unfinished, { force: true });
  }
}
