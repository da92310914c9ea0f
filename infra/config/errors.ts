import { RunError } from "@pulumi/pulumi";

/** A mistake in the configuration, shown as its message alone: Pulumi prints no stack trace for a RunError. */
export class ConfigError extends RunError {
  constructor(problems: string[]) {
    super(
      problems.length === 1
        ? problems[0]!
        : `${problems.length} problems in the configuration:\n${problems.map((p) => `  - ${p}`).join("\n")}`,
    );
  }
}
