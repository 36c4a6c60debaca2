/** The guard against calls into the operator's network (SSRF), where connections are made: every hop goes through it. */
import { lookup as resolve, type LookupAddress } from "node:dns";
import { createRequire } from "node:module";
import { isIP, type LookupFunction } from "node:net";
import type * as Undici from "undici";
import { StepError } from "../../core/step-errors.ts";
import { isPublicAddress } from "./addresses.ts";
import { toHostPort, formatHostPort, type HostPort } from "./hosts.ts";

const CONNECT_MS = 10_000;
const MAX_HEADER_BYTES = 64 * 1024;

/** How a host name becomes all its addresses; the system's resolver unless a test gives another. */
export type HostResolver = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

const systemResolve: HostResolver = (hostname, done) =>
  resolve(hostname, { all: true }, (error, addresses) => done(error, addresses ?? []));

/** The error of a place that is not public. Says neither its address nor whether anything answers there. */
export const blockedHostError = (place: HostPort): StepError =>
  new StepError(
    "http_blocked",
    `${formatHostPort(place)} is in a private network, where workflows may not call.`,
    {
      fix: `If they should, the operator adds "${formatHostPort(place)}" to http.allowed_hosts in the configuration.`,
    },
  );

/**
 * An agent that reaches public addresses, and of the others only what `isAllowed` names. A name is resolved once per
 * connection, all its addresses are checked, and the connection goes to one of these and no other: there is no gap
 * between check and use for another answer of the name server.
 */
export function createGuardedAgent(
  isAllowed: (place: HostPort) => boolean,
  resolver: HostResolver = systemResolve,
): Undici.Agent {
  // Loaded when the first request is sent: most processes send none.
  const undici = createRequire(import.meta.url)("undici") as typeof Undici;
  const { buildConnector } = undici;
  const options = { allowH2: false, timeout: CONNECT_MS } as const;
  const open = buildConnector({ ...options, lookup: lookupThrough(resolver) });
  return new undici.Agent({
    // The step's own time-out holds.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Shorter than any server's own, so that no request meets a connection that is just being closed.
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    connect(target, done) {
      const place = toHostPort(target.protocol, target.hostname, target.port);
      if (isAllowed(place)) return open(target, done);
      // A literal address is never looked up.
      if (isIP(place.host) !== 0)
        return isPublicAddress(place.host) ? open(target, done) : done(blockedHostError(place), null);
      const guarded = buildConnector({ ...options, lookup: lookupThrough(publicOnly(resolver, place)) });
      return guarded(target, done);
    },
  });
}

/** One private address among several is enough to refuse: a name server may mix them to get past a check. */
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
