import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../core/errors.ts";

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses requests that another site makes a browser send with its session cookie, by the rules of Go 1.25's
 * http.CrossOriginProtection. Requests that do not come from a browser pass, because they carry no session cookie.
 * @param ownOrigins base URLs of this server, for proxies that change the Host header
 * @throws AppError forbidden_origin
 */
export function rejectCrossSiteRequest(
  method: string,
  headers: IncomingHttpHeaders,
  ownOrigins: readonly string[] = [],
): void {
  if (SAFE.has(method)) return;
  const site = headers["sec-fetch-site"];
  if (site === "same-origin" || site === "none") return;
  // An old browser, or another client.
  if (!site && (!headers.origin || isOwn(headers.origin, headers.host, ownOrigins))) return;
  throw new AppError(
    "forbidden_origin",
    "This request came from a page of another site, so it was refused. Open Millrace itself and try again there. " +
      "If the page is Millrace: its proxy must not change the Host header, or MILLRACE_BASE_URL must be the address in the browser.",
  );
}

/**
 * Whether a page of another site, or of another host of the same site, led the browser here. Such a navigation is allowed,
 * but it must not sign anybody out.
 */
export function isCrossSiteNavigation({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  return site !== undefined && site !== "same-origin" && site !== "none";
}

function isOwn(origin: string, host: string | undefined, ownOrigins: readonly string[]): boolean {
  const url = URL.parse(origin);
  if (url === null || url.host === "") return false;
  return url.host === host?.toLowerCase() || ownOrigins.some((own) => URL.parse(own)?.origin === url.origin);
}
