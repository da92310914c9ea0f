/** A database node is never made anew unasked: what its data hangs on is written down, and a change to it refused. */
import * as pulumi from "@pulumi/pulumi";
import { local } from "@pulumi/command";

/** Prints what is to be kept; an update that would change it ends in a sentence unless it is allowed. */
const KEEP = `if [ -n "\${PULUMI_COMMAND_STDOUT:-}" ] && [ "$PULUMI_COMMAND_STDOUT" != "$MESHBENCH_IDENTITY" ] && [ "$MESHBENCH_ALLOWED" != true ]; then
  echo "this change makes $MESHBENCH_NODE anew, and its database with it: $PULUMI_COMMAND_STDOUT -> $MESHBENCH_IDENTITY; undo it, or set $MESHBENCH_KEY to true" >&2
  exit 1
fi
printf '%s' "$MESHBENCH_IDENTITY"`;

/** The node's own resource depends on this one. `identity`: whatever, when changed, replaces the node. */
export function keptUnlessAllowed(node: string, identity: Record<string, unknown>, allowed: boolean, key: string, opts: pulumi.CustomResourceOptions): pulumi.Resource {
  const text = Object.entries(identity).map(([k, v]) => `${k} ${String(v)}`).join(", ");
  return new local.Command(`${node}-kept`, {
    create: "printf '%s' \"$MESHBENCH_IDENTITY\"",
    update: KEEP,
    environment: { MESHBENCH_NODE: node, MESHBENCH_IDENTITY: text, MESHBENCH_ALLOWED: String(allowed), MESHBENCH_KEY: key },
    logging: "stderr",
    addPreviousOutputInEnv: true,
  }, opts);
}
