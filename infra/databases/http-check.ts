/** The program that answers a health check over HTTP: one request on stdin, one answer on stdout. Pure text. */

/**
 * @param verdict sets `code`, such as "200 OK", and `body`
 * @param request the verdict reads the request's first line in `request`
 */
export const httpCheck = (verdict: string, { request = false } = {}): string => `#!/bin/bash
# One request on stdin, one answer on stdout; started by systemd for each connection.
# The request is read to its end: what is left unread when the connection closes would reset it, and the answer with it.
${request ? "IFS= read -r -t 2 request\n" : ""}while IFS= read -r -t 2 line && [ -n "\${line%$'\\r'}" ]; do :; done
${verdict}
printf 'HTTP/1.0 %s\\r\\nContent-Type: text/plain\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n%s' "$code" "\${#body}" "$body"
`;
