/** Guards against requests into private networks (SSRF) when a connection is opened, which includes every redirect. */
import { lookup as resolve, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import type * as Undici from "undici";
import { connectThrough, forwardRequests, loadUndici, report } from "../../core/outgoing-agent.ts";
import { type OutgoingProxies, type OutgoingProxy, proxyPlace } from "../../core/outgoing-proxy.ts";
import { ProxyError } from "../../core/proxy-tunnel.ts";
import { StepError } from "../../core/step-errors.ts";
import { isPublicAddress } from "./addresses.ts";
import { errorCodeOf } from "./errors.ts";
import { formatHostPort, type HostPort, hostPortOf, toHostPort } from "../../core/host-patterns.ts";
import { blockedHostError, type HttpRules, PROXY_REFUSAL } from "./rules.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 64 * 1024;
/** How long a name is looked up that the proxy looks up too, in milliseconds: a machine may have no DNS server at all. */
const EXTRA_LOOKUP_MS = 2_000;
/** How many addresses of a name a proxy is asked to connect to. */
const MAX_ADDRESSES = 3;

/** Resolves a host name to all its addresses; tests replace the system's resolver. */
export type HostResolver = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

export const systemResolve: HostResolver = (hostname, done) =>
  resolve(hostname, { all: true }, (error, addresses) => done(error, addresses ?? []));

/** How connections leave this machine. */
export interface Egress {
  proxies: OutgoingProxies;
  /** Whether the proxy looks names up. */
  proxyResolves: boolean;
}

type ConnectOptions = Parameters<Undici.buildConnector.connector>[0];

/**
 * Creates an agent that connects only to public addresses, and to private ones that the rules allow. A name is resolved once
 * per connection, and the connection uses one of the checked addresses, also through a proxy: a DNS server cannot answer
 * differently between the check and the use.
 */
export function createGuardedAgent(
  rules: HttpRules,
  resolver: HostResolver,
  { proxies, proxyResolves }: Egress,
): Undici.Dispatcher {
  const { Agent, buildConnector } = loadUndici();
  const options = { allowH2: false, timeout: CONNECT_TIMEOUT_MS } as const;
  const open = buildConnector({ ...options, lookup: lookupThrough(resolver) });
  const proxyPorts = new Set(proxies.all.map((proxy) => proxyPlace(proxy).port));
  const lookUp = (hostname: string): Promise<readonly LookupAddress[]> =>
    new Promise((done, fail) =>
      resolver(hostname, (error, addresses) => {
        if (error === null && addresses.length > 0) done(addresses);
        else fail(error ?? noAddressError(hostname));
      }),
    );

  /** Whether the proxy may look a name up: the operator trusts the name, or the proxy. */
  const isResolvedByProxy = (place: HostPort): boolean => proxyResolves || rules.isPrivateAllowed(place);

  /** The proxy that gets the requests to an http URL themselves: it connects to the host in their target. */
  const forwardingProxy = (url: URL): OutgoingProxy | null => {
    const place = hostPortOf(url);
    return url.protocol === "http:" && (isIP(place.host) !== 0 || isResolvedByProxy(place))
      ? proxies.proxyFor(url)
      : null;
  };

  /** @throws StepError http_blocked for an address that must not be called */
  async function checkAddresses(place: HostPort, addresses: readonly LookupAddress[]): Promise<void> {
    if (!rules.isPrivateAllowed(place) && !addresses.every(({ address }) => isPublicAddress(address)))
      throw blockedHostError(place, rules.privateRefusal(place));
    for (const proxy of proxies.all) {
      const { host, port } = proxyPlace(proxy);
      if (port !== place.port) continue;
      const own = isIP(host) === 0 ? await lookUp(host).catch(() => []) : [{ address: host }];
      if (own.some((one) => addresses.some(({ address }) => address === one.address)))
        throw blockedHostError(place, PROXY_REFUSAL);
    }
  }

  /** The checked addresses of a host; null for a name that only the proxy can look up. */
  async function addressesOf(place: HostPort, byProxy: boolean): Promise<readonly LookupAddress[] | null> {
    if (isIP(place.host) !== 0) return [{ address: place.host, family: isIP(place.host) }];
    // An allowed name may have any address, except that of the proxy.
    if (byProxy && rules.isPrivateAllowed(place) && !proxyPorts.has(place.port)) return null;
    if (!byProxy) return lookUp(place.host);
    const gaveUp = Promise.withResolvers<null>();
    const timer = setTimeout(() => gaveUp.resolve(null), EXTRA_LOOKUP_MS);
    return Promise.race([lookUp(place.host).catch(() => null), gaveUp.promise]).finally(() =>
      clearTimeout(timer),
    );
  }

  /** Opens a connection through a proxy, or to a port where the proxy may be. */
  async function openChecked(
    target: ConnectOptions,
    place: HostPort,
    proxy: OutgoingProxy | null,
  ): Promise<Socket> {
    const byProxy = proxy !== null && isResolvedByProxy(place);
    const addresses = await addressesOf(place, byProxy).catch((error: unknown) => {
      throw proxy === null ? error : unresolvedError(place, error);
    });
    if (addresses !== null) await checkAddresses(place, addresses);
    if (proxy === null) return openAt(target, addresses ?? []);
    if (forwardingProxy(new URL(`${target.protocol}//${target.host}`)) !== null)
      return connectThrough({ proxy, tunnelTo: null }, target, open);
    const names = byProxy || addresses === null ? [place.host] : preferred(addresses);
    let failure: unknown;
    for (const host of names)
      try {
        const tunnelTo = formatHostPort({ host, port: place.port });
        return await connectThrough({ proxy, tunnelTo }, target, open);
      } catch (error) {
        failure ??= error;
        if (!(error instanceof ProxyError && /_50[234]$/.test(error.code))) break;
      }
    throw failure;
  }

  /** Connects directly to one of these addresses. */
  const openAt = (target: ConnectOptions, addresses: readonly LookupAddress[]): Promise<Socket> =>
    new Promise((done, fail) => {
      const fixed = lookupThrough((_, found) => found(null, addresses));
      buildConnector({ ...options, lookup: fixed })(target, (error, socket) =>
        error === null ? done(socket) : fail(error),
      );
    });

  const agent = new Agent({
    // The timeout of the step applies.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Shorter than the timeout of any server, so that no request uses a connection that the server is closing.
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    connect(target, done) {
      const place = toHostPort(target.protocol, target.hostname, target.port);
      const refusal = rules.refusal(place);
      if (refusal !== undefined) return done(blockedHostError(place, refusal), null);
      const proxy = proxies.proxyFor(target);
      if (proxy !== null || proxyPorts.has(place.port))
        return report(() => openChecked(target, place, proxy), done);
      // A literal address is not resolved.
      if (rules.isPrivateAllowed(place) || isIP(place.host) !== 0) return open(target, done);
      const publicOnly = requirePublic(resolver, () => blockedHostError(place, rules.privateRefusal(place)));
      const guarded = buildConnector({ ...options, lookup: lookupThrough(publicOnly) });
      return guarded(target, done);
    },
  });
  return proxies.all.length === 0 ? agent : agent.compose(forwardRequests(forwardingProxy));
}

/** The error for a name that this machine can't look up, as it must before a proxy connects to the address. */
const unresolvedError = (place: HostPort, error: unknown): StepError =>
  new StepError(
    "http_failed",
    `The request to ${formatHostPort(place)} failed: the host name could not be looked up (${errorCodeOf(error)}).`,
    {
      fix: "Check the spelling of the host. If only the outgoing proxy can look names up, ask the operator to set http.proxy_resolves.",
      details: { reason: errorCodeOf(error) },
      cause: error,
    },
  );

/** IPv4 first: fewer proxies reach IPv6. */
const preferred = (addresses: readonly LookupAddress[]): string[] =>
  addresses
    .toSorted((one, other) => one.family - other.family)
    .slice(0, MAX_ADDRESSES)
    .map(({ address }) => address);

/** Refuses a name with any private address: a DNS server may mix private and public ones to pass a check. */
const requirePublic =
  (resolver: HostResolver, refused: () => Error): HostResolver =>
  (hostname, done) =>
    resolver(hostname, (error, addresses) => {
      const isPublic = addresses.every(({ address }) => isPublicAddress(address));
      done(error ?? (isPublic ? null : refused()), addresses);
    });

const noAddressError = (hostname: string): Error =>
  Object.assign(new Error(`no address for ${hostname}`), { code: "ENOTFOUND" });

const lookupThrough =
  (resolver: HostResolver): LookupFunction =>
  (hostname, { all }, done) =>
    resolver(hostname, (error, addresses) => {
      const first = addresses[0];
      if (error !== null || first === undefined) done(error ?? noAddressError(hostname), []);
      else if (all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
