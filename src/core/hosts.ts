/** Addresses that one listens at, as they stand in URLs. */

/** IPv6 in brackets (RFC 3986, section 3.2.2). */
export const hostForUrl = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** As people reach it from the machine itself: "every address" is none that one can open. */
export const reachableHost = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "localhost" : hostForUrl(host);
