/** Limits attempts to guess passwords before anything is hashed: by account, by address, and by both. */
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { canonicalAddress } from "../../schemas/mail-address.ts";
import type { RateLimitCounter } from "../core/rate-limit-port.ts";
import { type Clock, HOUR, MINUTE, SECOND } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { networkOf, ipv6SiteOf } from "./network.ts";

const WINDOW = 15 * MINUTE;
/** Maximum number of cached refusals. */
const MAX_CACHED_REFUSALS = 10_000;
/** How long a refusal is cached, in milliseconds; another server may refund attempts meanwhile. */
const REFUSAL_CACHE_MS = 10 * SECOND;

/** Maximum attempts in a window. One address alone cannot use up the attempts of an account. */
const PER_ACCOUNT_AND_ADDRESS = 5;
const PER_ACCOUNT = 20;
const PER_ADDRESS = 30;
/** Factor for redirects, which are no guesses: many people may share an address. */
const PROVIDER_FACTOR = 10;
/** Maximum attempts from an IPv6 /48: one customer may have 65,536 networks that each count as an address. */
const PER_SITE = 100;
/** Maximum mails to one account per hour, from all addresses together. */
const MAILS = 3;
const MAIL_WINDOW = HOUR;

/**
 * `reset` and `verification` send a mail to the account; `to_provider` and `from_provider` are the two parts of a sign-on;
 * `decide` is a link that decides an approval; the last three are of applications: a request for access, a registration, and the fetch of a metadata document.
 */
export type ThrottledAction =
  | "sign_in"
  | "reset"
  | "verification"
  | "setup"
  | "link"
  | "decide"
  | "to_provider"
  | "from_provider"
  | "authorize"
  | "register_client"
  | "client_document";

export interface ThrottleSubject {
  /** The e-mail address that was entered, whether it exists or not; absent if the form has none. */
  account?: string;
  /** The IP address of the client. */
  address: string;
}

/** An attempt that was counted. */
export interface CountedAttempt {
  /**
   * Refunds a successful attempt, so that people who know their password use nothing up (30 people behind one address, or a
   * script that signs in often), and clears the attempts of this account from this address. Call it once.
   */
  markSucceeded(): Promise<void>;
  /** Refunds an attempt that was not made, because the server was too busy. Call it once. */
  refund(): Promise<void>;
}

export interface Throttle {
  /**
   * Counts an attempt before it is made.
   * @throws AppError too_many_attempts, the same for known and unknown accounts; and what the counter throws: an attempt that
   * cannot be counted is refused (a sign-in needs the store anyway, so an exception would only help attackers)
   */
  consume(kind: ThrottledAction, attempt: ThrottleSubject): Promise<CountedAttempt>;
  /** Clears the attempts of an account from an address, after its owner signed in by another way. */
  reset(kind: "sign_in", attempt: ThrottleSubject & { account: string }): Promise<void>;
}

interface Limit {
  key: string;
  most: number;
  windowMs: number;
}

export function throttle(counter: RateLimitCounter, clock: Clock): Throttle {
  /** By key: the end of the window, in milliseconds. */
  const refusals = new LRUCache<string, number>({
    // `max` would reserve its places at once.
    maxSize: MAX_CACHED_REFUSALS,
    sizeCalculation: () => 1,
    // lru-cache keeps an entry for one millisecond more.
    ttl: REFUSAL_CACHE_MS - 1,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  /** Number of attempts that are being counted, by key. Attempts that would exceed a limit together with these do not write to the store. */
  const inProgress = new Map<string, number>();

  /** @param allowance how far the counts may exceed the limits: 1 if they include this attempt, else 0 */
  function refuseIfExceeded(
    limits: readonly Limit[],
    counts: readonly { count: number; endsAt: number }[],
    allowance: number,
  ) {
    const exceeded = limits.flatMap(({ key, most }, index) => {
      const { count, endsAt } = counts[index]!;
      return count >= most + allowance && endsAt > clock.now() ? [{ key, endsAt }] : [];
    });
    for (const { key, endsAt } of exceeded) refusals.set(key, endsAt);
    if (exceeded.length > 0)
      throw tooManyAttempts(Math.max(...exceeded.map(({ endsAt }) => endsAt)) - clock.now());
  }

  function refuseIfCached(limits: readonly Limit[]): void {
    const now = clock.now();
    const endsAt = Math.max(...limits.map(({ key }) => refusals.get(key) ?? 0));
    if (endsAt > now) throw tooManyAttempts(endsAt - now);
  }

  /** Counts an attempt. @returns the windows in which it was counted */
  async function add(limits: readonly Limit[]): Promise<{ key: string; endsAt: number }[]> {
    if (limits.length === 0) return [];
    const counts = await counter.increment(
      limits.map(({ key, windowMs }) => ({ key, windowMs })),
      clock.now(),
    );
    refuseIfExceeded(limits, counts, 1);
    return limits.map(({ key }, index) => ({ key, endsAt: counts[index]!.endsAt }));
  }

  async function clear({ key }: Limit): Promise<void> {
    refusals.delete(key);
    await counter.clear([key]);
  }

  return {
    async consume(kind, attempt) {
      const limits = limitsOf(kind, attempt);
      refuseIfCached(limits);
      const ahead = limits.map(({ key }) => inProgress.get(key) ?? 0);
      const refuseIfCrowded = (counted: (index: number) => number) => {
        if (limits.some(({ most }, index) => counted(index) + ahead[index]! >= most))
          throw tooManyAttempts(SECOND);
      };
      refuseIfCrowded(() => 0);
      for (const { key } of limits) inProgress.set(key, (inProgress.get(key) ?? 0) + 1);
      try {
        const counts = await counter.read(
          limits.map(({ key }) => key),
          clock.now(),
        );
        refuseIfExceeded(limits, counts, 0);
        refuseIfCrowded((index) => counts[index]!.count);
        // The narrowest limit first: an attempt that it refuses must not use up those of the account.
        const [narrow, ...wide] = limits;
        const counted = [...(await add([narrow!])), ...(await add(wide))];
        return {
          async markSucceeded() {
            for (const { key } of counted) refusals.delete(key);
            await counter.refund(counted);
            if (kind === "sign_in" && attempt.account !== undefined) await clear(narrow!);
          },
          refund: () => counter.refund(counted),
        };
      } finally {
        for (const { key } of limits) {
          const remaining = inProgress.get(key)! - 1;
          if (remaining === 0) inProgress.delete(key);
          else inProgress.set(key, remaining);
        }
      }
    },

    reset: (kind, attempt) => clear(limitsOf(kind, attempt)[0]!),
  };
}

/** The limits that apply to an attempt, the narrowest first. */
function limitsOf(kind: ThrottledAction, { account, address }: ThrottleSubject): Limit[] {
  const limit = (email: string | null, from: string | null, most: number, windowMs = WINDOW): Limit => ({
    key: keyOf(kind, email, from),
    most,
    windowMs,
  });
  const [network, site] = [networkOf(address), ipv6SiteOf(address)];
  const factor = kind === "to_provider" || kind === "authorize" ? PROVIDER_FACTOR : 1;
  const byAddress = [
    limit(null, network, PER_ADDRESS * factor),
    ...(site === undefined ? [] : [limit(null, site, PER_SITE * factor)]),
  ];
  if (account === undefined) return byAddress;
  const email = canonicalAddress(account.trim());
  if (kind === "reset" || kind === "verification")
    return [limit(email, null, MAILS, MAIL_WINDOW), ...byAddress];
  return [limit(email, network, PER_ACCOUNT_AND_ADDRESS), limit(email, null, PER_ACCOUNT), ...byAddress];
}

/** A digest, because people sometimes type their password into the address field, and it must not be stored. */
const keyOf = (...parts: [ThrottledAction, account: string | null, from: string | null]): string =>
  hash("sha256", JSON.stringify(parts), "base64url").slice(0, 22);

function tooManyAttempts(ms: number): AppError {
  const seconds = Math.max(1, Math.ceil(ms / SECOND));
  const wait = seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;
  return new AppError("too_many_attempts", `There were too many attempts. Try again in ${wait}.`, {
    headers: { "Retry-After": String(seconds) },
  });
}
