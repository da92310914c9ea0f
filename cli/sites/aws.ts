import type { SiteCommands } from "./kind.ts";

/** AWS's client is the slowest thing to start: each of these loads it only when it is called. */
export const aws: SiteCommands = {
  where: "aws",
  inCloud: true,
  needsLocalNodes: false,
  provider: { plugin: "aws", package: "@pulumi/aws" },
  leftovers: async ({ project, known, stacks, ownIds, now }) => {
    const { accessesOf, lookAtAws } = await import("../leftovers/aws.ts");
    const held = (id: string): boolean => stacks.some(({ holds }) => holds(id));
    return lookAtAws({ project, accesses: accessesOf(known), held, ownIds, now });
  },
  recover: async (...args) => (await import("../leftovers/lost-aws.ts")).recover(...args),
  room: async (...args) => (await import("../study/quotas.ts")).sideBySide(...args),
};
