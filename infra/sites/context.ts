import type * as pulumi from "@pulumi/pulumi";
import type { OperatorKey } from "../identity/identity.ts";
import type { Owned } from "../preflight/owned.ts";

/** What every kind of site needs to know of the stack it belongs to. */
export interface SiteContext {
  /** Name of the laboratory on this machine. */
  lab: string;
  key: OperatorKey;
  /** AWS accounts by site, as far as they were seen beforehand. */
  accounts?: Record<string, string>;
  /** A renamed stack keeps what is called by its first name. */
  owned: Owned;
  /** On every resource that can carry tags. */
  labels: {
    project: string;
    stack: string;
    "stack-id": pulumi.Output<string>;
    owner: string;
    expires: pulumi.Output<string>;
  };
}
