/**
 * A call of the Proxmox API, with the rules for TLS that the provider has: 1.3 at least, verified unless said
 * otherwise.
 */
import { request } from "node:https";
import type { Login } from "../../config/sites/proxmox.ts";

export interface ProxmoxApi {
  /** https://host:port */
  endpoint: string;
  login: Login;
  insecure: boolean;
}

/** A question: the answer's data, by a path that begins after /api2/json. */
export type Ask = <T>(path: string) => Promise<T>;

type Form = Record<string, string | number>;
type Method = "GET" | "POST" | "PUT" | "DELETE";

/** An answer that is no success; `status` 0: there was none. */
export class ProxmoxError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** `path` begins after /api2/json. Resolves with the answer's data. */
export async function callProxmox<T>(
  api: ProxmoxApi,
  method: Method,
  path: string,
  form?: Form,
  timeoutMs = 10_000,
): Promise<T> {
  if ("apiToken" in api.login)
    return send(api, method, path, { authorization: `PVEAPIToken=${api.login.apiToken}` }, form, timeoutMs);
  const { username, password } = api.login;
  const { ticket, CSRFPreventionToken } = await send<{ ticket: string; CSRFPreventionToken: string }>(
    api,
    "POST",
    "/access/ticket",
    {},
    { username, password },
    timeoutMs,
  );
  return send(
    api,
    method,
    path,
    { cookie: `PVEAuthCookie=${ticket}`, csrfpreventiontoken: CSRFPreventionToken },
    form,
    timeoutMs,
  );
}

function send<T>(
  api: ProxmoxApi,
  method: Method,
  path: string,
  headers: Record<string, string>,
  form: Form | undefined,
  timeoutMs: number,
): Promise<T> {
  const body =
    form === undefined
      ? undefined
      : new URLSearchParams(Object.entries(form).map(([k, v]) => [k, String(v)])).toString();
  return new Promise((resolve, reject) => {
    const call = request(
      `${api.endpoint.replace(/\/$/, "")}/api2/json${path}`,
      {
        method,
        minVersion: "TLSv1.3",
        rejectUnauthorized: !api.insecure,
        timeout: timeoutMs,
        headers: {
          ...headers,
          ...(body === undefined
            ? {}
            : { "content-type": "application/x-www-form-urlencoded", "content-length": Buffer.byteLength(body) }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const status = response.statusCode ?? 0;
          const text = Buffer.concat(chunks).toString();
          if (status >= 200 && status < 300) {
            try {
              resolve((JSON.parse(text) as { data: T }).data);
            } catch {
              reject(new ProxmoxError(status, "the answer is no JSON: is that a Proxmox API?"));
            }
          } else reject(new ProxmoxError(status, problemIn(text) ?? response.statusMessage ?? `HTTP ${status}`));
        });
      },
    );
    call.on("timeout", () => call.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)));
    call.on("error", (error: NodeJS.ErrnoException) =>
      reject(new ProxmoxError(0, error.message || error.code || "no connection")),
    );
    call.end(body);
  });
}

function problemIn(text: string): string | undefined {
  try {
    const { message, errors } = JSON.parse(text) as { message?: string; errors?: Record<string, string> };
    const fields = Object.entries(errors ?? {}).map(([k, v]) => `${k}: ${v.trim()}`);
    return [message?.trim(), ...fields].filter(Boolean).join("; ") || undefined;
  } catch {
    return undefined;
  }
}
