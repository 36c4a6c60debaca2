/** Opens connections to an outgoing proxy, and tunnels through it (CONNECT: RFC 9110, section 9.3.6). */
import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { SECOND } from "./clock.ts";
import { type OutgoingProxy, proxyPlace } from "./outgoing-proxy.ts";

/** Time limit until a connection or a tunnel is open, in milliseconds. */
const OPEN_TIMEOUT_MS = 10 * SECOND;

/** Why a request failed at the proxy. It names neither the address of the proxy nor its credentials. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
  /** `PROXY_` and a word, or the status. */
  readonly code: string;
  /** What to do about it. */
  readonly fix: string;
  /** Whether another attempt may succeed. */
  readonly transient: boolean;

  /** @param message a clause: "the outgoing proxy …" */
  constructor(reason: string, message: string, { fix, transient }: { fix: string; transient: boolean }) {
    super(message);
    this.code = `PROXY_${reason}`;
    this.fix = fix;
    this.transient = transient;
  }
}

/** Finds the error of a proxy in an error and its causes. */
export function proxyErrorOf(error: unknown): ProxyError | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 10; cause = cause.cause, depth += 1)
    if (cause instanceof ProxyError) return cause;
  return undefined;
}

/**
 * Connects to a proxy.
 * @throws ProxyError
 */
export async function openProxy(
  proxy: OutgoingProxy,
  signal = AbortSignal.timeout(OPEN_TIMEOUT_MS),
): Promise<Socket> {
  const { host, port } = proxyPlace(proxy);
  const isTls = proxy.url.protocol === "https:";
  const socket = isTls
    ? connectTls({ host, port, ALPNProtocols: ["http/1.1"], ...(isIP(host) === 0 && { servername: host }) })
    : connect({ host, port });
  // Errors are reported by those who use the socket; there may be nobody in between.
  socket.setNoDelay(true).on("error", () => undefined);
  try {
    await once(socket, isTls ? "secureConnect" : "connect", { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw connectionError(error, signal);
  }
}

/**
 * Opens a tunnel through a proxy.
 * @param authority the target: a name or an address (IPv6 in brackets), and a port
 * @param timeoutMs time limit until the tunnel is open, in milliseconds
 * @returns a socket that is connected to the target
 * @throws ProxyError
 */
export async function openTunnel(
  proxy: OutgoingProxy,
  authority: string,
  timeoutMs = OPEN_TIMEOUT_MS,
): Promise<Socket> {
  const signal = AbortSignal.timeout(timeoutMs);
  // Loaded here, because most commands use no proxy: Node loads its whole HTTP client with it, in a tenth of the time of a start.
  const { request } = await import("node:http");
  const socket = await openProxy(proxy, signal);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const connecting = request({
    method: "CONNECT",
    path: authority,
    headers: {
      host: authority,
      ...(proxy.authorization !== null && { "proxy-authorization": proxy.authorization }),
    },
    createConnection: () => socket,
  });
  connecting.once("error", reject);
  connecting.once("connect", ({ statusCode = 0 }, _, head) => {
    if (head.length > 0) socket.unshift(head);
    resolve(statusCode);
  });
  // Not the signal of the request, which would hold for the tunnel too.
  const end = (): void => void connecting.destroy();
  signal.addEventListener("abort", end);
  connecting.end();
  try {
    const status = await promise;
    if (status < 200 || status > 299) throw proxyRefusal(status, proxy);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error instanceof ProxyError ? error : connectionError(error, signal);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** Whether a proxy refuses the credentials of a request for itself: some answer 401 instead of 407. */
export const isLoginRefusal = (status: number): boolean => status === 407 || status === 401;

/** The error for a status with which a proxy refuses a request. */
export function proxyRefusal(status: number, { variable }: OutgoingProxy): ProxyError {
  const options = { fix: FIX, transient: false };
  if (isLoginRefusal(status))
    return new ProxyError(
      String(status),
      `the outgoing proxy requires a user name and a password, or refuses those that it got (status ${status})`,
      {
        fix: `Ask the operator to check the user name and the password in ${variable}.`,
        transient: false,
      },
    );
  if (status >= 500 || status === 408 || status === 429)
    return new ProxyError(String(status), `the outgoing proxy can't reach the host now (status ${status})`, {
      fix: "Check the spelling of the host.",
      transient: true,
    });
  return status >= 400
    ? new ProxyError(
        String(status),
        `the outgoing proxy refuses connections to this host or port (status ${status})`,
        {
          ...options,
          fix: "Ask the operator to allow the host and the port in the proxy, or to add the host to NO_PROXY.",
        },
      )
    : new ProxyError(
        String(status),
        `the outgoing proxy answered with status ${status} instead of a connection`,
        options,
      );
}

const FIX = "Ask the operator to check the outgoing proxy: millrace doctor says more.";

function connectionError(error: unknown, signal: AbortSignal): ProxyError {
  if (signal.aborted)
    return new ProxyError("TIMEOUT", "the outgoing proxy did not answer in time", {
      fix: FIX,
      transient: true,
    });
  const code = codeOf(error);
  if (code.startsWith("HPE_"))
    return new ProxyError("PROTOCOL", "what answers as the outgoing proxy does not speak HTTP", {
      fix: FIX,
      transient: false,
    });
  if (/CERT|^ERR_(?:SSL|TLS)|^EPROTO|^UNABLE_TO/.test(code))
    return new ProxyError("TLS", `the TLS handshake with the outgoing proxy failed (${code})`, {
      fix: "Ask the operator to check the certificate of the outgoing proxy, and NODE_EXTRA_CA_CERTS for a private authority.",
      transient: false,
    });
  const closed = code === "ECONNRESET" || code === "EPIPE";
  return new ProxyError(
    closed ? "CLOSED" : "UNREACHABLE",
    closed ? "the outgoing proxy closed the connection" : `the outgoing proxy can't be reached (${code})`,
    { fix: FIX, transient: true },
  );
}

/** The system's error code; if all addresses of a name failed, that of the first. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "unknown";
}
