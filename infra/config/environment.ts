/** Credentials that a variable of the environment may hold instead of the stack's configuration. Pure. */

/** The names that the Proxmox provider itself knows. */
const VARIABLES = { proxmoxToken: "PROXMOX_VE_API_TOKEN", proxmoxPassword: "PROXMOX_VE_PASSWORD" } as const;

/** What stands in the configuration wins. A study needs this: each of its stacks encrypts for itself. */
export function withEnvironment(raw: Record<string, unknown>, environment: NodeJS.ProcessEnv): Record<string, unknown> {
  const added = Object.entries(VARIABLES).filter(([key, variable]) => raw[key] === undefined && environment[variable]);
  return { ...raw, ...Object.fromEntries(added.map(([key, variable]) => [key, environment[variable]])) };
}
