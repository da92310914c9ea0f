import type { SiteCommands } from "./kind.ts";

export const local: SiteCommands = {
  where: "lab",
  inCloud: false,
  needsLocalNodes: true,
  provider: null,
  leftovers: async ({ stacks, ownIds, now }) => {
    const { lookAtLabs } = await import("../leftovers/labs.ts");
    return lookAtLabs(new Set(stacks.map(({ lab }) => lab)), ownIds, now);
  },
  recover: null,
  room: null,
};
