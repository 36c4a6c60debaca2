/** What can go wrong between sending and having the answer, in words for who wrote the workflow. */
import { StepError } from "../../core/step-errors.ts";

interface Reason {
  says: string;
  fix: string;
  transient?: boolean;
}

const TLS: Reason = {
  says: "its certificate is not valid or not trusted",
  fix: "Have the certificate renewed; for a private authority the operator sets NODE_EXTRA_CA_CERTS.",
  transient: false,
};
const CUT: Reason = {
  says: "it closed the connection before its answer was whole",
  fix: "Try again; add retry to the step if this happens now and then.",
};

const REASONS: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: {
    says: "nothing listens there",
    fix: "Check host and port, and whether the service is running.",
  },
  ENOTFOUND: { says: "there is no host of that name", fix: "Check the spelling of the host." },
  EAI_AGAIN: { says: "the name server gives no answer", fix: "Try again; add retry to the step." },
  EHOSTUNREACH: { says: "there is no way to that host", fix: "Check the host and the network." },
  ENETUNREACH: { says: "there is no way to that network", fix: "Check the host and the network." },
  ETIMEDOUT: {
    says: "it does not take the connection",
    fix: "Check host and port, and any firewall between.",
  },
  UND_ERR_CONNECT_TIMEOUT: {
    says: "it does not take the connection",
    fix: "Check host and port, and any firewall between.",
  },
  ECONNRESET: CUT,
  EPIPE: CUT,
  UND_ERR_SOCKET: CUT,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: CUT,
  Z_BUF_ERROR: CUT,
  ERR_STREAM_PREMATURE_CLOSE: CUT,
  UND_ERR_HEADERS_OVERFLOW: {
    says: "its answer has more than 64 KiB of headers",
    fix: "Ask another address of it.",
    transient: false,
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: TLS,
  SELF_SIGNED_CERT_IN_CHAIN: TLS,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: TLS,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: TLS,
  CERT_HAS_EXPIRED: TLS,
  ERR_TLS_CERT_ALTNAME_INVALID: TLS,
};

/** The failure of a call, as the error of its step. Nothing that the peer wrote is repeated. */
export function httpStepError(error: unknown, place: string): StepError {
  if (error instanceof StepError) return error;
  const code = errorCodeOf(error);
  const reason = REASONS[code] ?? byFamily(code);
  const { says, fix, transient } = reason;
  return new StepError("http_failed", `The request to ${place} failed: ${says}.`, {
    fix,
    details: { reason: code },
    ...(transient !== undefined && { transient }),
    cause: error,
  });
}

function byFamily(code: string): Reason {
  if (code.startsWith("HPE_"))
    return { says: "what it answers is not HTTP", fix: "Check scheme and port.", transient: false };
  if (code.startsWith("Z_") || code.startsWith("ERR_BROTLI") || code.startsWith("ERR_ZSTD"))
    return {
      says: "its answer is not compressed as it says",
      fix: "Set the header Accept-Encoding to identity.",
      transient: false,
    };
  if (code.startsWith("ERR_SSL") || code === "EPROTO")
    return { says: "it does not speak TLS as expected", fix: "Check scheme and port.", transient: false };
  return { says: `of ${code}`, fix: "Try again; if it stays so, check the address." };
}

/** The system's code of a failure; where all addresses of a name failed, that of the first. */
export function errorCodeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return errorCodeOf(error.errors[0]);
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  if (typeof code === "string") return code;
  // undici gives some of these no code.
  return name === "HTTPParserError" ? "HPE_INVALID" : "unknown";
}
