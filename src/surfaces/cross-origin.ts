/**
 * Which web pages may call the endpoints of MCP clients, and CORS for them. Nothing there reads a cookie: a page acts with the
 * token or key that it sends itself, so what it learns from a response is what any program with that token learns.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { hostForUrl, parseHost } from "../core/hosts.ts";

export interface OriginRules {
  /** The host names of this instance, IPv6 in brackets. Pages on them are accepted with any port. */
  hostnames: readonly string[];
  /** Further origins that the operator has listed. */
  origins: readonly string[];
}

/** How long browsers remember the answer to a preflight request, in seconds. */
const PREFLIGHT_AGE_S = 3_600;

/** The headers of responses that pages can read. */
const EXPOSED = "Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-Id";

/** Whether a page of an origin may call this server. */
export function isAllowedOrigin(origin: string, { hostnames, origins }: OriginRules): boolean {
  const host = parseHost(/^https?:\/\/(.*)$/s.exec(origin)?.[1] ?? "");
  return origins.includes(origin) || (host !== undefined && hostnames.includes(hostForUrl(host.hostname)));
}

/**
 * Lets an allowed page read the response to its request, whatever the response will be, and answers its preflight request.
 * @param methods the methods of the path
 * @returns whether the request is answered
 */
export function answerCrossOrigin(
  { method, headers }: IncomingMessage,
  res: ServerResponse,
  methods: readonly string[],
  rules: OriginRules,
): boolean {
  const { origin } = headers;
  res.setHeader("Vary", "Origin");
  // Always, because oidc-provider lets any page read its responses unless it finds a header of CORS.
  res.setHeader("Access-Control-Expose-Headers", EXPOSED);
  if (origin === undefined || !isAllowedOrigin(origin, rules)) return false;
  res.setHeader("Access-Control-Allow-Origin", origin);
  if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return false;
  res.writeHead(204, {
    "Access-Control-Allow-Methods": methods.join(", "),
    // The asterisk does not include Authorization.
    "Access-Control-Allow-Headers": "Authorization, *",
    "Access-Control-Max-Age": String(PREFLIGHT_AGE_S),
  });
  res.end();
  return true;
}
