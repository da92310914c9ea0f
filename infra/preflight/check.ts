/** What asking a cloud beforehand comes to. */

export interface Check {
  /** What was asked: "AWS credentials", "t3.medium in us-east-1a". */
  check: string;
  ok: boolean;
  /** It could not be asked, and nothing is known; ok is true then. */
  skipped?: true;
  /** What was found; for a failure one sentence with the key and what to do. */
  message: string;
  /** Whose the site's resources will be, where that was found out: an AWS account's number. */
  account?: { site: string; id: string };
}

export const passed = (check: string, message: string): Check => ({ check, ok: true, message });
export const failed = (check: string, message: string): Check => ({ check, ok: false, message });
export const skipped = (check: string, message: string): Check => ({ check, ok: true, skipped: true, message });

const NETWORK = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "ETIMEDOUT",
  "TimeoutError",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Whether nothing was reached at all, which says nothing about the configuration. */
export function isNetworkError(error: unknown): boolean {
  const { code, name, cause, errors } = error as { code?: string; name?: string; cause?: unknown; errors?: unknown[] };
  return (
    NETWORK.has(code ?? "") ||
    NETWORK.has(name ?? "") ||
    (cause !== undefined && cause !== error && isNetworkError(cause)) ||
    (errors ?? []).some(isNetworkError)
  );
}
