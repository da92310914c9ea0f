/**
 * Who a stack is, made at its first `up` and kept in its state: everybody's stack is called hybrid, and a stack can be
 * renamed. Tags and filters go by the id; what must not change with the stack's name goes by the name kept here.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { local } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { checkout } from "../paths.ts";
import { labName, labSlug } from "../sites/lab-name.ts";
import { type Kept, parseKept, STACK_ID_RESOURCE, STACK_IDS } from "./stack-id.ts";
import { valueOf } from "./value-of.ts";

export interface StackIdentity {
  /** Unknown in the preview of a stack that is not there yet. */
  id: pulumi.Output<string>;
  known: Kept | undefined;
  /** As kept; before there is anything, what the first `up` is going to keep unless the lab's name is taken. */
  name: string;
  lab: string;
}

/** Prints Kept as JSON. The lab's name is the one that stacks had before there was an id, unless another has it. */
const SCRIPT = `
id=$(head -c 6 /dev/urandom | od -An -tx1 | tr -d ' \\n')
lab=$(node lab/cli.ts name --prefer "$MESHBENCH_LAB" --otherwise "$MESHBENCH_SLUG-$(printf %s "$id" | head -c 6)")
printf '{"id":"%s","name":"%s","lab":"%s"}' "$id" "$MESHBENCH_STACK" "$lab"`;

/** Awaited, since names of resources and questions to clouds are plain values. */
export async function stackIdentity(stack: string, root: string): Promise<StackIdentity> {
  const made = new local.Command(
    STACK_ID_RESOURCE,
    {
      create: SCRIPT,
      environment: { MESHBENCH_STACK: stack, MESHBENCH_LAB: labName(stack, root), MESHBENCH_SLUG: labSlug(stack) },
      interpreter: ["/bin/bash", "-euo", "pipefail", "-c"],
      logging: "none",
      addPreviousOutputInEnv: false,
    },
    { ignoreChanges: ["create", "environment", "interpreter"] },
  );
  const known = parseKept(await valueOf(made.stdout));
  if (known !== undefined && !pulumi.runtime.isDryRun()) remember(known.id);
  return {
    id: made.stdout.apply((text) => parseKept(text)?.id ?? ""),
    known,
    name: known?.name ?? stack,
    lab: known?.lab ?? labName(stack, root),
  };
}

/** So that what a stack left behind is still known as one's own when its state is gone. */
function remember(id: string): void {
  const folder = join(checkout, ".meshbench", STACK_IDS);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, id), "");
  } catch {
    // A checkout that cannot be written to: `leftovers` then asks for the name.
  }
}
