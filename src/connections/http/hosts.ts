/** Hosts as the operator lists them: `host`, `host:port`, `*.example.com`, `[::1]:8080`. */

/** Where a connection goes. */
export interface HostPort {
  /** Lower case, IPv6 without brackets. */
  host: string;
  port: number;
}

/** The place that an http or https URL names. */
export const hostPortOf = (url: URL): HostPort => toHostPort(url.protocol, url.hostname, url.port);

/** @param port empty for the scheme's own */
export const toHostPort = (protocol: string, hostname: string, port: string | undefined): HostPort => ({
  host: plainHost(hostname),
  port: port ? Number(port) : protocol === "https:" ? 443 : 80,
});

/** A host for people, with brackets where a port follows it. */
export const formatHostPort = ({ host, port }: HostPort): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

/**
 * Tells whether a place is one of those listed. A pattern without a port means all ports; `*.` means any name below,
 * not the name itself. Addresses are compared in their normal spelling.
 */
export function hostMatcher(patterns: readonly string[]): (place: HostPort) => boolean {
  const wanted = patterns.map(parsed);
  return ({ host, port }) =>
    wanted.some(
      (it) =>
        (it.port === null || it.port === port) &&
        (it.below ? host.endsWith(`.${it.host}`) : host === it.host),
    );
}

function parsed(pattern: string): { host: string; below: boolean; port: number | null } {
  const below = pattern.startsWith("*.");
  const rest = below ? pattern.slice(2) : pattern;
  // The URL parser drops :80 as the scheme's own port, so it is read here.
  const port = /:(\d{1,5})$/.exec(rest)?.[1];
  // A pattern that is no host matches nothing.
  const host = plainHost(URL.parse(`http://${rest}`)?.hostname ?? "");
  return { host, below, port: port === undefined ? null : Number(port) };
}

const plainHost = (hostname: string): string =>
  hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
