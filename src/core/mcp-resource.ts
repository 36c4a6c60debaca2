/** The identifiers of the MCP server as an OAuth resource (RFC 8707), such as `https://millrace.example.com/mcp`. */
import { hostForUrl, isLoopback, parseHost } from "./hosts.ts";

/** The paths at which clients connect. The resource of a token may also be the server without a path. */
export const MCP_PATHS = ["/mcp", "/sse"] as const;

export interface McpResources {
  /** Whether a token can be issued for a resource: the MCP server that is configured, or one on a host of this instance. */
  isKnown(resource: string): boolean;
  /**
   * The URL of the MCP server as a request reaches it, without the path of a transport; undefined if that is not clear, so
   * that no token can be for it.
   * @param host the `Host` of the request
   * @param localPort the port that received it
   */
  baseOf(host: string, localPort: number | undefined): string | undefined;
}

/** The URL of the MCP server without the path of a transport, which some people include. */
export const mcpBase = ({ origin, pathname }: URL): string =>
  `${origin}${pathname}`.replace(/\/(?:mcp|sse)?\/?$/, "");

/** Whether a resource is the server with this URL. */
export const isResourceOf = (resource: string, base: string): boolean =>
  [base, `${base}/`, ...MCP_PATHS.map((path) => base + path)].includes(resource);

/**
 * Without a configured URL, the host and port of a request must be those of the listener. Otherwise another server on this
 * machine could have a token issued for itself, and use it here with a `Host` of its own.
 */
export function mcpResources({
  mcpUrl,
  baseUrl,
}: {
  mcpUrl: URL | undefined;
  baseUrl: URL | undefined;
}): McpResources {
  const configured = mcpUrl && mcpBase(mcpUrl);
  /** The scheme under which a host is reached; undefined for a host that is not ours. */
  const schemeOf = (hostname: string): string | undefined => {
    if (hostname === baseUrl?.hostname) return baseUrl.protocol;
    return isLoopback(hostname) ? "http:" : undefined;
  };
  return {
    isKnown(resource) {
      if (configured !== undefined) return isResourceOf(resource, configured);
      const url = URL.parse(resource);
      return url !== null && url.protocol === schemeOf(url.hostname) && isResourceOf(resource, url.origin);
    },
    baseOf(host, localPort) {
      if (configured !== undefined) return configured;
      const named = parseHost(host);
      if (named === undefined) return undefined;
      const scheme = schemeOf(hostForUrl(named.hostname));
      const port = named.port ?? (scheme === "https:" ? 443 : 80);
      return scheme === undefined || port !== localPort ? undefined : new URL(`${scheme}//${host}`).origin;
    },
  };
}
