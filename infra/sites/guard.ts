/**
 * Keeps a configuration edit from destroying or stopping a database node: what such an edit changes is remembered in
 * the state.
 */

import { local } from "@pulumi/command";
import type * as pulumi from "@pulumi/pulumi";

export interface Guarded {
  /** Values of which any change makes the node anew; its data is lost with it. */
  replaced: Record<string, string>;
  /** Values of which any change stops the node for a while. */
  restarted?: Record<string, string>;
  /**
   * Sizes of disks, GB, by their keys in the site: a smaller one is refused, for no cloud shrinks a disk, and one makes
   * another machine for it.
   */
  grown?: Record<string, number>;
  /** Confirmed by configuration. */
  mayReplace: boolean;
  mayRestart?: boolean;
  /** What to set in order to confirm, as in "meshbench:sites[0].replaceNodes to true". */
  replaceKey: string;
  restartKey?: string;
}

/**
 * Prints the values that hold from now on, one per line. Refused changes leave with 1 before anything is touched: the
 * node depends on this step, and a step that failed keeps its old inputs, so that it fails again until it is confirmed
 * or undone. A value that was not remembered is no change: the node was made before it counted.
 */
export const GUARD_SCRIPT = `
changes() {
  printf '%s\\n' "$1" | grep . | while IFS= read -r asked; do
    was=$(printf '%s\\n' "\${PULUMI_COMMAND_STDOUT:-}" | grep -F -- "\${asked%% = *} = " | head -n 1 || true)
    [ -z "$was" ] || [ "$was" = "$asked" ] || printf '  was: %s\\n  asked: %s\\n' "\${was#* }" "\${asked#* }"
  done || true
}
shrinks() {
  printf '%s\\n' "$GROWN" | grep . | while IFS= read -r asked; do
    was=$(printf '%s\\n' "\${PULUMI_COMMAND_STDOUT:-}" | grep -F -- "\${asked%% = *} = " | head -n 1 || true)
    [ -z "$was" ] || [ "\${was##* = }" -le "\${asked##* = }" ] || { key=\${asked#grown }; printf '%s.%s: %s; expected at least %s, which the disk has: a disk cannot shrink\\n' "\${REPLACE_KEY%.replaceNodes*}" "\${key%% = *}" "\${asked##* = }" "\${was##* = }"; }
  done || true
}
refuse() {
  printf '%s\\n%s\\n' "$1" "$2" >&2
  exit 1
}
if [ -n "\${PULUMI_COMMAND_STDOUT:-}" ]; then
  anew=$(changes "$REPLACED")
  stops=$(changes "$RESTARTED")
  smaller=$(shrinks)
  [ -z "$smaller" ] || refuse "$smaller" "$NODE: undo the change, or destroy the node first, with its data: destroy --target '**$NODE-guard' --target-dependents"
  [ "$MAY_REPLACE" = true ] || [ -z "$anew" ] || refuse "$anew" "$NODE: this change replaces the database node and destroys its data; set $REPLACE_KEY to confirm it, or undo the change"
  [ "$MAY_RESTART" = true ] || [ -z "$stops" ] || refuse "$stops" "$NODE: this change stops the database node, maybe together with others; set $RESTART_KEY to have it done node by node, or undo the change"
fi
printf '%s\\n' "$REPLACED" "$RESTARTED" "$GROWN" | grep . || true`;

const lines = (kind: string, values: Record<string, string | number>): string =>
  Object.entries(values)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${kind} ${key} = ${value}`)
    .join("\n");

/** `node`: or a site, of which the same holds. What is guarded must depend on what this returns. */
export function guard(node: string, guarded: Guarded, opts: pulumi.CustomResourceOptions): local.Command {
  return new local.Command(
    `${node}-guard`,
    {
      create: GUARD_SCRIPT,
      interpreter: ["/bin/bash", "-euo", "pipefail", "-c"],
      environment: {
        NODE: node,
        REPLACED: lines("replaced", guarded.replaced),
        RESTARTED: lines("restarted", guarded.restarted ?? {}),
        GROWN: lines("grown", guarded.grown ?? {}),
        MAY_REPLACE: String(guarded.mayReplace),
        MAY_RESTART: String(guarded.mayRestart ?? false),
        REPLACE_KEY: guarded.replaceKey,
        RESTART_KEY: guarded.restartKey ?? "",
      },
      addPreviousOutputInEnv: true,
      logging: "stderr",
    },
    opts,
  );
}
