/** Whether a request can have reached its receiver, although it failed without an answer. */

/** Codes of failures before anything was sent: no address, no connection, no encryption. */
const NOT_SENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "ENOENT",
  "EACCES",
  "EPROTO",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);
const NOT_SENT_FAMILIES = /^(?:PROXY_|CERT_|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL)/;

/** @param code the system's error code of the failure; undefined where it has none */
export const mayHaveBeenSent = (code: string | undefined): boolean =>
  code === undefined || !(NOT_SENT.has(code) || NOT_SENT_FAMILIES.test(code));

/** Statuses with which a gateway says that it got no answer (RFC 9110, sections 15.6.3 and 15.6.5; 524: Cloudflare). */
export const isUnansweredStatus = (status: number): boolean =>
  status === 502 || status === 504 || status === 524;
