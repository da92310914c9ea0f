/** Words for errors whose own text says nothing to a user. */

/**
 * The text of an error of a client library or of the system; "" when it has none. A name with several addresses fails
 * with one error per address and no text of its own: theirs, in their order.
 */
export function messageOf(error: unknown): string {
  const { errors, message = "" } = error as { errors?: unknown; message?: string };
  const plugin = /unknown plugin ([\w-]+)/.exec(message)?.[1];
  if (plugin !== undefined || /mysql_clear_password/.test(message))
    return `the account's authentication plugin: ${plugin ?? "mysql_clear_password"}; expected caching_sha2_password, sha256_password, mysql_native_password or ed25519`;
  if (message || !Array.isArray(errors)) return message;
  return errors.map((each: unknown) => (each as Error).message).join("; ");
}
