import type * as pulumi from "@pulumi/pulumi";

/** On every resource that can carry them. */
export type Tags = Record<string, pulumi.Input<string>>;
