/** Whether a request can have reached its receiver, although it failed without an answer. */

/** Codes of failures before a connection was open: no address, no program, no certificate to trust. */
const NOT_SENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ENOENT",
  "EACCES",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
]);
const NOT_SENT_FAMILIES = /^(?:PROXY_|CERT_|SELF_SIGNED|UNABLE_TO_|ERR_TLS_CERT)/;
/** System calls before a connection is open. Their codes, such as ETIMEDOUT, also come from one that breaks later. */
const BEFORE_CONNECTION: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo", "spawn"]);

/** @param failure the system's code of a failure, and the call that failed; undefined where it has none */
export const mayHaveBeenSent = ({
  code,
  syscall,
}: {
  code: string | undefined;
  syscall?: unknown;
}): boolean =>
  !BEFORE_CONNECTION.has(syscall) &&
  (code === undefined || !(NOT_SENT.has(code) || NOT_SENT_FAMILIES.test(code)));

/**
 * Statuses with which a gateway says that it got no answer, or none that it understood (RFC 9110, sections 15.6.3 and 15.6.5; 520 and
 * 524: Cloudflare).
 */
export const isUnansweredStatus = (status: number): boolean => [502, 504, 520, 524].includes(status);
