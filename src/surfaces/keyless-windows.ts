/**
 * Limits requests that need no key, on this process. What anybody can send who knows a URL takes nothing from the rate of those that
 * prove who they are, also where both come from one network, such as that of a vendor of webhooks.
 */
import { networkOf } from "../auth/network.ts";
import { AppError } from "../core/errors.ts";
import { requestWindow } from "./request-window.ts";

/** Maximum number of requests from one network in a minute: of all, and of those that are refused as such. */
const PER_MINUTE = { all: 6_000, unproven: 300 };

export interface KeylessWindows {
  /** Counts a request before anything of it is read. @throws AppError rate_limited */
  countRequest(address: string): void;
  /** Counts a request that has not proven who sent it. @throws AppError rate_limited in place of its refusal */
  countUnproven(address: string): void;
}

/** @param now monotonic time, in milliseconds */
export function keylessWindows(now: () => number): KeylessWindows {
  const windows = {
    all: requestWindow(PER_MINUTE.all, now),
    unproven: requestWindow(PER_MINUTE.unproven, now),
  };
  const count = (kind: keyof typeof windows, address: string, what: string): void => {
    const seconds = windows[kind](networkOf(address));
    if (seconds === undefined) return;
    const max = PER_MINUTE[kind].toLocaleString("en");
    throw new AppError(
      "rate_limited",
      `Your network has sent more than ${max} ${what} in a minute. Try again in ${seconds} s.`,
      { headers: { "Retry-After": String(seconds) } },
    );
  };
  return {
    countRequest: (address) => count("all", address, "requests"),
    countUnproven: (address) => count("unproven", address, "requests that were refused"),
  };
}
