/** Guessing is slowed down before anything is hashed: by account, by address, and by both. */
import { hash } from "node:crypto";
import type { AttemptCounter } from "../core/account-ports.ts";
import { type Clock, MINUTE, SECOND } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { networkOf } from "./network.ts";

const WINDOW = 15 * MINUTE;
/** How many refusals are remembered; the oldest are forgotten first, and cost a look-up then. */
const REMEMBERED = 10_000;

/** Attempts in a window. One address can't lock an account out: it takes several of them to use the account's up. */
const PER_ACCOUNT_AND_ADDRESS = 5;
const PER_ACCOUNT = 20;
const PER_ADDRESS = 30;

export type AttemptKind = "sign_in" | "reset" | "setup" | "link";

export interface Attempt {
  /** What was typed as an e-mail address, whether somebody has it or not; left out where none is asked for. */
  account?: string;
  /** Where it comes from: an IP address. */
  address: string;
}

export interface Throttle {
  /**
   * Counts an attempt, before it is made.
   * @throws AppError too_many_attempts, the same for known and unknown accounts; whatever the counter throws: with no
   * count there is no attempt (to sign in needs the store anyway, so to let it pass would only help who guesses)
   */
  take(kind: AttemptKind, attempt: Attempt): Promise<void>;
  /** It went well: what this account had tried from this address is forgotten. */
  succeeded(kind: AttemptKind, attempt: Attempt): Promise<void>;
}

interface Limit {
  key: string;
  most: number;
}

export function throttle(counter: AttemptCounter, clock: Clock): Throttle {
  const refusedUntil = new Map<string, number>();
  /** Attempts that are being counted just now, by key: of many at a time no more write to the store than may pass. */
  const underWay = new Map<string, number>();

  function remember(key: string, until: number): void {
    refusedUntil.delete(key);
    refusedUntil.set(key, until);
    if (refusedUntil.size > REMEMBERED) refusedUntil.delete(refusedUntil.keys().next().value!);
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
    const ends = limits.map(({ key }) => refusedUntil.get(key) ?? 0);
    const last = Math.max(...ends);
    if (last > now) throw tooMany(last - now);
  }

  async function add(limits: readonly Limit[]): Promise<void> {
    if (limits.length === 0) return;
    const counts = await counter.add(
      limits.map(({ key }) => ({ key, windowMs: WINDOW })),
      clock.now(),
    );
    refuseIf(limits, counts, 1);
  }

  return {
    async take(kind, attempt) {
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
        await add([narrow!]);
        await add(wide);
      } finally {
        for (const { key } of limits) {
          const left = underWay.get(key)! - 1;
          if (left === 0) underWay.delete(key);
          else underWay.set(key, left);
        }
      }
    },

    async succeeded(kind, attempt) {
      if (attempt.account === undefined) return;
      const [narrow] = limitsOf(kind, attempt);
      refusedUntil.delete(narrow!.key);
      await counter.clear([narrow!.key]);
    },
  };
}

/** The narrowest first. */
function limitsOf(kind: AttemptKind, { account, address }: Attempt): Limit[] {
  const network = networkOf(address);
  const byAddress = { key: keyOf(kind, null, network), most: PER_ADDRESS };
  if (account === undefined) return [byAddress];
  const email = account.trim().toLowerCase();
  return [
    { key: keyOf(kind, email, network), most: PER_ACCOUNT_AND_ADDRESS },
    { key: keyOf(kind, email, null), most: PER_ACCOUNT },
    byAddress,
  ];
}

/** A digest: people type passwords where the address goes, and that must not stand in a table. */
const keyOf = (...parts: [AttemptKind, account: string | null, network: string | null]): string =>
  hash("sha256", JSON.stringify(parts), "base64url").slice(0, 22);

function tooMany(ms: number): AppError {
  const seconds = Math.max(1, Math.ceil(ms / SECOND));
  const wait = seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;
  return new AppError("too_many_attempts", `There were too many attempts. Go on in ${wait}.`, {
    headers: { "Retry-After": String(seconds) },
  });
}
