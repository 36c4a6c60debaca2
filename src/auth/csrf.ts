import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../core/errors.ts";

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses what another site lets a browser send with our cookie: the rule of Go 1.25's http.CrossOriginProtection. What
 * no browser sent passes, because nobody's cookie comes with it.
 * @param ownOrigins base URLs that people reach this server by, where a proxy gives it another Host
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
  // An old browser, or none.
  if (!site && (!headers.origin || isOwn(headers.origin, headers.host, ownOrigins))) return;
  throw new AppError(
    "forbidden_origin",
    "A page of another site sent this, so it was not done. Open Millrace itself and do it there. " +
      "If this is Millrace: the proxy before it must pass the Host header on unchanged, or the configured base URL must be the address in the browser.",
  );
}

/**
 * Whether another site's page, that of another host of ours included, has led a browser to this page: it may, but nobody is
 * signed out by that.
 */
export function isCrossSiteNavigation({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  return site !== undefined && site !== "same-origin" && site !== "none";
}

function isOwn(origin: string, host: string | undefined, ownOrigins: readonly string[]): boolean {
  const url = URL.parse(origin);
  if (url === null || url.host === "") return false;
  return url.host === host?.toLowerCase() || ownOrigins.some((own) => URL.parse(own)?.origin === url.origin);
}
