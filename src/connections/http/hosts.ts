/** Parses and matches host patterns of the configuration: `host`, `host:port`, `*.example.com`, `[::1]:8080`. */

import { plainHost } from "../../core/hosts.ts";

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
  return ({ host, port }) =>
    entries.some(
      (entry) =>
        (entry.port === null || entry.port === port) &&
        (entry.below ? host.endsWith(`.${entry.host}`) : host === entry.host),
    );
}

function parsePattern(pattern: string): { host: string; below: boolean; port: number | null } {
  const below = pattern.startsWith("*.");
  const rest = below ? pattern.slice(2) : pattern;
  // The URL parser drops the default port :80, so it is read here.
  const port = /:(\d{1,5})$/.exec(rest)?.[1];
  // An invalid pattern matches nothing.
  const host = plainHost(URL.parse(`http://${rest}`)?.hostname ?? "");
  return { host, below, port: port === undefined ? null : Number(port) };
}
