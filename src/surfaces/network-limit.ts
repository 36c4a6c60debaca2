/** Limits the requests of callers of whom nothing is known but where they are, before anything is charged to anybody else. */
import { ipv6SiteOf, networkOf } from "../auth/network.ts";
import { AppError } from "../core/errors.ts";
import { requestWindow } from "./request-window.ts";

/** How many times the limit of a network an IPv6 /48 may use: one customer may have 65,536 networks. */
const SITE_FACTOR = 4;

/**
 * Returns a function that counts a request from an address, on this process.
 * @param perMinute maximum number of requests from one network in a minute
 * @param what the requests, for the message
 * @param now monotonic time, in milliseconds
 * @returns throws AppError rate_limited
 */
export function networkLimit(
  perMinute: number,
  what: string,
  now = (): number => performance.now(),
): (address: string) => void {
  const ofNetwork = requestWindow(perMinute, now);
  const ofSite = requestWindow(perMinute * SITE_FACTOR, now);
  return (address) => {
    const site = ipv6SiteOf(address);
    const seconds = ofNetwork(networkOf(address)) ?? (site === undefined ? undefined : ofSite(site));
    if (seconds === undefined) return;
    throw new AppError(
      "rate_limited",
      `Your network has sent more than ${perMinute.toLocaleString("en")} ${what} in a minute. Try again in ${seconds} s.`,
      { headers: { "Retry-After": String(seconds) } },
    );
  };
}

/** Who shares memory with others before anything else is known: the most that one customer has. */
export const customerOf = (address: string): string => ipv6SiteOf(address) ?? networkOf(address);
