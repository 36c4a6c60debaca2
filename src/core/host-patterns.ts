/** Parses and matches host patterns of the configuration: `host`, `host:port`, `*.example.com`, `[::1]:8080`. */

import { plainHost } from "./hosts.ts";

/** The target of a connection. */
export interface HostPort {
  /** Lower case, IPv6 without brackets. */
  host: string;
  port: number;
}

/** The host and port of an http or https URL. */
export const hostPortOf = (url: URL): HostPort => toHostPort(url.protocol, url.hostname, url.port);

/** @param port empty for the default port of the scheme */
export const toHostPort = (protocol: string, hostname: string, port: string | undefined): HostPort => ({
  host: plainHost(hostname),
  port: port ? Number(port) : protocol === "https:" ? 443 : 80,
});

/** Formats host and port for people, with IPv6 in brackets. */
export const formatHostPort = ({ host, port }: HostPort): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

/**
 * Returns a function that tests whether a host is in a list. A pattern without a port matches all ports; `*.` matches all
 * names below, but not the name itself. Addresses are compared in their normalized form.
 */
export function hostMatcher(patterns: readonly string[]): (place: HostPort) => boolean {
  const entries = patterns.map(parsePattern);
  return (place) => entries.some((entry) => isMatch(entry, place));
}

/**
 * Returns the entry with the most specific pattern that matches a host: a name before a wildcard, a longer one before a shorter one,
 * and one with a port before one without. Of equal ones, the first.
 */
export function mostSpecificHost<T extends { host: string }>(
  entries: readonly T[],
  place: HostPort,
): T | undefined {
  const matches = entries
    .map((entry) => ({ entry, pattern: parsePattern(entry.host) }))
    .filter(({ pattern }) => isMatch(pattern, place));
  return matches.toSorted((a, b) => specificity(b.pattern) - specificity(a.pattern))[0]?.entry;
}

interface Pattern {
  host: string;
  /** Whether it matches all names below the host, but not the host. */
  below: boolean;
  port: number | null;
}

const isMatch = (pattern: Pattern, { host, port }: HostPort): boolean =>
  (pattern.port === null || pattern.port === port) &&
  (pattern.below ? host.endsWith(`.${pattern.host}`) : host === pattern.host);

/** Greater than the length of every host name, in characters. */
const LONGEST_HOST = 1_000;

const specificity = ({ host, below, port }: Pattern): number =>
  (below ? host.length : LONGEST_HOST) * 2 + (port === null ? 0 : 1);

function parsePattern(pattern: string): Pattern {
  const below = pattern.startsWith("*.");
  const rest = below ? pattern.slice(2) : pattern;
  // The URL parser drops the default port :80, so it is read here.
  const port = /:(\d{1,5})$/.exec(rest)?.[1];
  // An invalid pattern matches nothing.
  const host = plainHost(URL.parse(`http://${rest}`)?.hostname ?? "");
  return { host, below, port: port === undefined ? null : Number(port) };
}
