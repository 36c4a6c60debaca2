/** Guessing is slowed down before anything is hashed: by account, by address, and by both. */
import { hash } from "node:crypto";
import type { RateLimitCounter } from "../core/account-ports.ts";
import { type Clock, HOUR, MINUTE, SECOND } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { networkOf, ipv6SiteOf } from "./network.ts";

const WINDOW = 15 * MINUTE;
/** How many refusals are remembered; the oldest are forgotten first, and cost a look-up then. */
const REMEMBERED = 10_000;
/** After so long it is looked up again: another copy may have given something back. */
const REMEMBERED_MS = 10 * SECOND;

/** Attempts in a window. One address can't lock an account out: it takes several of them to use the account's up. */
const PER_ACCOUNT_AND_ADDRESS = 5;
const PER_ACCOUNT = 20;
const PER_ADDRESS = 30;
/** To be sent to a provider is no guess: as often as many people behind one address may want to. */
const WAYS_TO_PROVIDER = 10;
/** Of an IPv6 /48: one customer may have 65,536 of the networks that count as an address. */
const PER_SITE = 100;
/** Mails to one account, whoever asks for them: more would flood its owner, who has the links of these by then. */
const MAILS = 3;
const MAIL_WINDOW = HOUR;

/** `reset` and `verification` send a mail to the account; `to_provider` and `from_provider` are a sign-on's two halves. */
export type ThrottledAction =
  "sign_in" | "reset" | "verification" | "setup" | "link" | "to_provider" | "from_provider";

export interface ThrottleSubject {
  /** What was typed as an e-mail address, whether somebody has it or not; left out where none is asked for. */
  account?: string;
  /** Where it comes from: an IP address. */
  address: string;
}

/** An attempt that was counted. */
export interface CountedAttempt {
  /**
   * It went well: it is given back, so that who knows the password uses nothing up (of 30 people behind one address, or
   * of a script that signs in often), and what this account had tried from this address is forgotten. Called once.
   */
  markSucceeded(): Promise<void>;
  /** It was not made after all (we were too busy): it is given back. Called once. */
  refund(): Promise<void>;
}

export interface Throttle {
  /**
   * Counts an attempt, before it is made.
   * @throws AppError too_many_attempts, the same for known and unknown accounts; whatever the counter throws: with no
   * count there is no attempt (to sign in needs the store anyway, so to let it pass would only help who guesses)
   */
  consume(kind: ThrottledAction, attempt: ThrottleSubject): Promise<CountedAttempt>;
  /** Forgets what an account had tried from an address: its owner has come in by another way. */
  reset(kind: "sign_in", attempt: ThrottleSubject & { account: string }): Promise<void>;
}

interface Limit {
  key: string;
  most: number;
  windowMs: number;
}

export function throttle(counter: RateLimitCounter, clock: Clock): Throttle {
  const refused = new Map<string, { endsAt: number; known: number }>();
  /** Attempts that are being counted just now, by key: of many at a time no more write to the store than may pass. */
  const underWay = new Map<string, number>();

  function remember(key: string, endsAt: number): void {
    refused.delete(key);
    refused.set(key, { endsAt, known: clock.now() });
    if (refused.size > REMEMBERED) refused.delete(refused.keys().next().value!);
  }

  /** Refuses what is over; `over` says from which count on. */
  function refuseIf(
    limits: readonly Limit[],
    counts: readonly { count: number; endsAt: number }[],
    over: number,
  ) {
    const full = limits.flatMap(({ key, most }, index) => {
      const { count, endsAt } = counts[index]!;
      return count >= most + over && endsAt > clock.now() ? [{ key, endsAt }] : [];
    });
    for (const { key, endsAt } of full) remember(key, endsAt);
    if (full.length > 0) throw tooMany(Math.max(...full.map(({ endsAt }) => endsAt)) - clock.now());
  }

  function refuseRemembered(limits: readonly Limit[]): void {
    const now = clock.now();
    const ends = limits.map(({ key }) => {
      const it = refused.get(key);
      return it !== undefined && now - it.known < REMEMBERED_MS ? it.endsAt : 0;
    });
    const last = Math.max(...ends);
    if (last > now) throw tooMany(last - now);
  }

  /** Gives what was counted, in the windows it was counted in. */
  async function add(limits: readonly Limit[]): Promise<{ key: string; endsAt: number }[]> {
    if (limits.length === 0) return [];
    const counts = await counter.increment(
      limits.map(({ key, windowMs }) => ({ key, windowMs })),
      clock.now(),
    );
    refuseIf(limits, counts, 1);
    return limits.map(({ key }, index) => ({ key, endsAt: counts[index]!.endsAt }));
  }

  async function forget({ key }: Limit): Promise<void> {
    refused.delete(key);
    await counter.clear([key]);
  }

  return {
    async consume(kind, attempt) {
      const limits = limitsOf(kind, attempt);
      refuseRemembered(limits);
      const ahead = limits.map(({ key }) => underWay.get(key) ?? 0);
      const refuseIfCrowded = (counted: (index: number) => number) => {
        if (limits.some(({ most }, index) => counted(index) + ahead[index]! >= most)) throw tooMany(SECOND);
      };
      refuseIfCrowded(() => 0);
      for (const { key } of limits) underWay.set(key, (underWay.get(key) ?? 0) + 1);
      try {
        const counts = await counter.read(
          limits.map(({ key }) => key),
          clock.now(),
        );
        refuseIf(limits, counts, 0);
        refuseIfCrowded((index) => counts[index]!.count);
        // The narrow one first: what it refuses (copies that count at the same time) does not use the account up.
        const [narrow, ...wide] = limits;
        const counted = [...(await add([narrow!])), ...(await add(wide))];
        return {
          async markSucceeded() {
            for (const { key } of counted) refused.delete(key);
            await counter.refund(counted);
            if (kind === "sign_in" && attempt.account !== undefined) await forget(narrow!);
          },
          refund: () => counter.refund(counted),
        };
      } finally {
        for (const { key } of limits) {
          const left = underWay.get(key)! - 1;
          if (left === 0) underWay.delete(key);
          else underWay.set(key, left);
        }
      }
    },

    reset: (kind, attempt) => forget(limitsOf(kind, attempt)[0]!),
  };
}

/** The narrowest first. */
function limitsOf(kind: ThrottledAction, { account, address }: ThrottleSubject): Limit[] {
  const limit = (email: string | null, from: string | null, most: number, windowMs = WINDOW): Limit => ({
    key: keyOf(kind, email, from),
    most,
    windowMs,
  });
  const [network, site] = [networkOf(address), ipv6SiteOf(address)];
  const times = kind === "to_provider" ? WAYS_TO_PROVIDER : 1;
  const byAddress = [
    limit(null, network, PER_ADDRESS * times),
    ...(site === undefined ? [] : [limit(null, site, PER_SITE * times)]),
  ];
  if (account === undefined) return byAddress;
  const email = account.trim().toLowerCase();
  if (kind === "reset" || kind === "verification")
    return [limit(email, null, MAILS, MAIL_WINDOW), ...byAddress];
  return [limit(email, network, PER_ACCOUNT_AND_ADDRESS), limit(email, null, PER_ACCOUNT), ...byAddress];
}

/** A digest: people type passwords where the address goes, and that must not stand in a table. */
const keyOf = (...parts: [ThrottledAction, account: string | null, from: string | null]): string =>
  hash("sha256", JSON.stringify(parts), "base64url").slice(0, 22);

function tooMany(ms: number): AppError {
  const seconds = Math.max(1, Math.ceil(ms / SECOND));
  const wait = seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;
  return new AppError("too_many_attempts", `There were too many attempts. Go on in ${wait}.`, {
    headers: { "Retry-After": String(seconds) },
  });
}
