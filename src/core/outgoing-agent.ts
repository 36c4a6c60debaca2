/**
 * The undici agents of everything that goes out over HTTP, with the outgoing proxy: https and what must not be resolved by
 * the proxy go through tunnels, other http requests are sent to the proxy with an absolute target (RFC 9112, section 3.2.2).
 */
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { callbackify } from "node:util";
import type * as Undici from "undici";
import { hostForUrl } from "./hosts.ts";
import { lazy } from "./lazy.ts";
import type { OutgoingProxies, OutgoingProxy, ProxyTarget } from "./outgoing-proxy.ts";
import { openProxy, openTunnel, proxyRefusal } from "./proxy-tunnel.ts";

// Loaded with the first request, because most processes send none.
export const loadUndici = lazy(() => createRequire(import.meta.url)("undici") as typeof Undici);

/** How a connection is opened through a proxy. */
export interface ProxyRoute {
  proxy: OutgoingProxy;
  /** The host and port that the proxy connects to; null if it gets the requests themselves. */
  tunnelTo: string | null;
}

type ConnectOptions = Parameters<Undici.buildConnector.connector>[0];

/**
 * Opens the connection of a target through a proxy.
 * @param open connects directly; it makes a connection to an https target out of a tunnel
 * @throws ProxyError, or the error of the TLS handshake with the target
 */
export async function connectThrough(
  { proxy, tunnelTo }: ProxyRoute,
  target: ConnectOptions,
  open: Undici.buildConnector.connector,
): Promise<Socket> {
  const socket = tunnelTo === null ? await openProxy(proxy) : await openTunnel(proxy, tunnelTo);
  if (target.protocol !== "https:") return socket;
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  open({ ...target, httpSocket: socket }, (error, secure) => {
    if (error === null) resolve(secure);
    else reject(error);
  });
  return promise;
}

/**
 * Sends the requests of an agent with an absolute target where their connection is one to the proxy.
 * @param proxyOf the proxy that gets the requests to an origin; null where they go to the origin itself
 */
export const forwardRequests =
  (proxyOf: (origin: URL) => OutgoingProxy | null): Undici.Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const origin = new URL(String(options.origin));
    const proxy = proxyOf(origin);
    if (proxy === null) return dispatch(options, handler);
    const { authorization } = proxy;
    const { DecoratorHandler } = loadUndici();
    // A target has no reason for this status, and its own responses can't be distinguished from those of the proxy.
    const checked = new (class extends DecoratorHandler {
      onResponseStart(
        ...[controller, status, headers, message]: Parameters<
          NonNullable<Undici.Dispatcher.DispatchHandler["onResponseStart"]>
        >
      ): void {
        if (status === 407) controller.abort(proxyRefusal(status, proxy));
        else handler.onResponseStart?.(controller, status, headers, message);
      }
    })(handler);
    return dispatch(
      {
        ...options,
        path: `${origin.origin}${options.path}`,
        headers: {
          ...Object.fromEntries(new Headers(options.headers as Record<string, string>)),
          ...(authorization !== null && { "proxy-authorization": authorization }),
        },
      },
      checked,
    );
  };

/**
 * Creates the agent of a client whose URLs the operator has configured: it connects where they say.
 * @param options those of undici, with those of the connector in `connect`
 */
export function outgoingAgent(
  proxies: OutgoingProxies,
  { connect, ...options }: Undici.Agent.Options & { connect?: Undici.buildConnector.BuildOptions },
): Undici.Dispatcher {
  const { Agent, buildConnector } = loadUndici();
  const open = buildConnector(connect ?? {});
  if (proxies.all.length === 0) return new Agent({ ...options, connect: open });
  const agent = new Agent({
    ...options,
    connect(target, done) {
      const proxy = proxies.proxyFor(target);
      if (proxy === null) return open(target, done);
      const port = Number(target.port) || (target.protocol === "https:" ? 443 : 80);
      const tunnelTo = isForwarded(target) ? null : `${hostForUrl(target.hostname)}:${port}`;
      return report(() => connectThrough({ proxy, tunnelTo }, target, open), done);
    },
  });
  return agent.compose(forwardRequests((origin) => (isForwarded(origin) ? proxies.proxyFor(origin) : null)));
}

const isForwarded = ({ protocol }: ProxyTarget): boolean => protocol === "http:";

/** Reports a connection to undici, which throws out of its callback when it finds a mistake. */
export const report = (work: () => Promise<Socket>, done: Undici.buildConnector.Callback): void =>
  callbackify(work)((error: Error | null, socket) => {
    if (error === null) done(null, socket);
    else done(error, null);
  });

/** Returns a `fetch` that uses the outgoing proxy: Node's own if there is none. */
export function outgoingFetch(proxies: OutgoingProxies): typeof fetch {
  if (proxies.all.length === 0) return fetch;
  const dispatcher = lazy(() => outgoingAgent(proxies, {}));
  return (url, init) => {
    const fetchUrl = loadUndici().fetch as unknown as typeof fetch;
    // The types of undici and of Node differ in details that do not matter here.
    return fetchUrl(url, { ...init, dispatcher: dispatcher() } as object);
  };
}
