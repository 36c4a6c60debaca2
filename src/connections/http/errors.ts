/** Converts network errors to step errors, with messages for workflow authors. */
import { ProxyError } from "../../core/proxy-tunnel.ts";
import { StepError } from "../../core/step-errors.ts";
import { mayHaveBeenSent } from "../was-sent.ts";

interface Reason {
  message: string;
  fix: string;
  transient?: boolean;
}

const TLS: Reason = {
  message: "its certificate is invalid or not trusted",
  fix: "Ask for a valid certificate. For a private certificate authority, the operator must set NODE_EXTRA_CA_CERTS.",
  transient: false,
};
const CUT: Reason = {
  message: "it closed the connection before the response was complete",
  fix: "Try again.",
};

const REASONS: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: {
    message: "nothing listens on that port",
    fix: "Check host and port, and whether the service is running.",
  },
  ENOTFOUND: { message: "the host name does not exist", fix: "Check the spelling of the host." },
  EAI_AGAIN: { message: "the DNS server does not answer", fix: "Try again." },
  EHOSTUNREACH: { message: "there is no route to the host", fix: "Check the host and the network." },
  ENETUNREACH: { message: "there is no route to the network", fix: "Check the host and the network." },
  ETIMEDOUT: {
    message: "it does not accept the connection",
    fix: "Check host, port and firewalls.",
  },
  UND_ERR_CONNECT_TIMEOUT: {
    message: "it does not accept the connection",
    fix: "Check host, port and firewalls.",
  },
  ECONNRESET: CUT,
  EPIPE: CUT,
  UND_ERR_SOCKET: CUT,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: CUT,
  Z_BUF_ERROR: CUT,
  ERR_STREAM_PREMATURE_CLOSE: CUT,
  UND_ERR_HEADERS_OVERFLOW: {
    message: "the response has more than 64 KiB of headers",
    fix: "Use another URL of this service.",
    transient: false,
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: TLS,
  SELF_SIGNED_CERT_IN_CHAIN: TLS,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: TLS,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: TLS,
  CERT_HAS_EXPIRED: TLS,
  ERR_TLS_CERT_ALTNAME_INVALID: TLS,
};

/** Converts a network error to a step error, without repeating anything that the server sent. */
export function httpStepError(error: unknown, place: string): StepError {
  if (error instanceof StepError) return error;
  const code = error instanceof ProxyError ? error.code : errorCodeOf(error);
  const reason = error instanceof ProxyError ? error : (REASONS[code] ?? byFamily(code));
  const { message, fix, transient } = reason;
  return new StepError("http_failed", `The request to ${place} failed: ${message}.`, {
    fix,
    details: { reason: code },
    ...(transient !== undefined && { transient }),
    ...(mayHaveBeenSent({ code, syscall: syscallOf(error) }) && { unanswered: true }),
    cause: error,
  });
}

function byFamily(code: string): Reason {
  if (code.startsWith("HPE_"))
    return { message: "the response is not HTTP", fix: "Check scheme and port.", transient: false };
  if (code.startsWith("Z_") || code.startsWith("ERR_BROTLI") || code.startsWith("ERR_ZSTD"))
    return {
      message: "the response is not compressed as its headers say",
      fix: "Set the header Accept-Encoding to identity.",
      transient: false,
    };
  if (code.startsWith("ERR_SSL") || code === "EPROTO")
    return { message: "the TLS handshake failed", fix: "Check scheme and port.", transient: false };
  return { message: code, fix: "Try again. If the error remains, check the URL." };
}

/** The system's error code; if all addresses of a name failed, that of the first. */
export function errorCodeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return errorCodeOf(error.errors[0]);
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  if (typeof code === "string") return code;
  // undici sets no code for some of these errors.
  return name === "HTTPParserError" ? "HPE_INVALID" : "unknown";
}

/** The system call that failed; if all addresses of a name failed, that of the first. */
function syscallOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return syscallOf(error.errors[0]);
  return ((error ?? {}) as { syscall?: unknown }).syscall;
}
