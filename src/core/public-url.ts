/**
 * The URLs of the servers as their clients reach them. A server can have a path of a host that it shares with others, such as
 * `https://example.com/millrace`: whatever it says about its own addresses begins with that, and what it receives may begin with it,
 * because some proxies remove the path and others do not.
 */

/** The URL of the web server without a slash at the end, and without `/ui`, which some people include. */
export const webBase = ({ origin, pathname }: URL): string => origin + pathname.replace(/(?:\/ui)?\/*$/, "");

/** The path in front of all paths of a server, such as `/millrace`; empty at the root of a host. */
export const pathPrefixOf = (base: string | undefined): string =>
  base === undefined ? "" : new URL(base).pathname.replace(/\/+$/, "");

/** The path and query of a request target, which may be absolute (`GET http://host/mcp`; RFC 9112, section 3.2.2). */
export function pathOfTarget(target: string): string {
  const url = target.startsWith("/") ? null : URL.parse(target);
  return url === null ? target : url.pathname + url.search;
}

/** The target of a request without the prefix, for proxies that do not remove it. */
export function withoutPrefix(target: string, prefix: string): string {
  if (prefix === "" || !target.startsWith(prefix)) return target;
  const rest = target.slice(prefix.length);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : target;
}

/** Where the metadata of an identifier is: the name is in front of its path (RFC 8414, section 3.1; RFC 9728, section 3.1). */
export function wellKnownUrl(name: string, identifier: string): string {
  const { origin } = new URL(identifier);
  return `${origin}/.well-known/${name}${pathPrefixOf(identifier)}`;
}
