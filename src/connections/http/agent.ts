/** Guards against requests into private networks (SSRF) when a connection is opened, which includes every redirect. */
import { lookup as resolve, type LookupAddress } from "node:dns";
import { createRequire } from "node:module";
import { isIP, type LookupFunction } from "node:net";
import type * as Undici from "undici";
import { StepError } from "../../core/step-errors.ts";
import { isPublicAddress } from "./addresses.ts";
import { toHostPort, formatHostPort, type HostPort } from "./hosts.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 64 * 1024;

/** Resolves a host name to all its addresses; tests replace the system's resolver. */
export type HostResolver = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

export const systemResolve: HostResolver = (hostname, done) =>
  resolve(hostname, { all: true }, (error, addresses) => done(error, addresses ?? []));

/** The error for a private host. It reveals neither the address nor whether anything answers there. */
export const blockedHostError = (place: HostPort): StepError =>
  new StepError(
    "http_blocked",
    `${formatHostPort(place)} is in a private network, which workflows must not call.`,
    {
      fix: `To allow it, ask the operator to add "${formatHostPort(place)}" to http.allowed_hosts in the configuration.`,
    },
  );

/**
 * Creates an agent that connects only to public addresses, and to private ones that `isAllowed` accepts. A name is resolved
 * once per connection, and the connection uses one of the checked addresses: a DNS server cannot answer differently between
 * the check and the use.
 */
export function createGuardedAgent(
  isAllowed: (place: HostPort) => boolean,
  resolver: HostResolver,
): Undici.Agent {
  // Loaded with the first request, because most processes send none.
  const undici = createRequire(import.meta.url)("undici") as typeof Undici;
  const { buildConnector } = undici;
  const options = { allowH2: false, timeout: CONNECT_TIMEOUT_MS } as const;
  const open = buildConnector({ ...options, lookup: lookupThrough(resolver) });
  return new undici.Agent({
    // The timeout of the step applies.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Shorter than the timeout of any server, so that no request uses a connection that the server is closing.
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    connect(target, done) {
      const place = toHostPort(target.protocol, target.hostname, target.port);
      if (isAllowed(place)) return open(target, done);
      // A literal address is not resolved.
      if (isIP(place.host) !== 0)
        return isPublicAddress(place.host) ? open(target, done) : done(blockedHostError(place), null);
      const guarded = buildConnector({ ...options, lookup: lookupThrough(publicOnly(resolver, place)) });
      return guarded(target, done);
    },
  });
}

/** Refuses a name with any private address: a DNS server may mix private and public ones to pass a check. */
const publicOnly =
  (resolver: HostResolver, place: HostPort): HostResolver =>
  (hostname, done) =>
    resolver(hostname, (error, addresses) => {
      const isPublic = addresses.every(({ address }) => isPublicAddress(address));
      done(error ?? (isPublic ? null : blockedHostError(place)), addresses);
    });

const lookupThrough =
  (resolver: HostResolver): LookupFunction =>
  (hostname, { all }, done) =>
    resolver(hostname, (error, addresses) => {
      const first = addresses[0];
      if (error !== null || first === undefined)
        done(error ?? Object.assign(new Error(`no address for ${hostname}`), { code: "ENOTFOUND" }), []);
      else if (all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
