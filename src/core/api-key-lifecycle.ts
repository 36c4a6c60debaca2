/** The life of an API key: when it ends, what it hands on, whether it is alive. */
import { OPERATOR } from "../../schemas/actor.ts";
import type { ApiKeyWithOwner } from "./account-ports.ts";
import { DAY, HOUR, iso } from "./clock.ts";
import { AppError } from "./errors.ts";

/** How long a rotated key goes on working when nothing is said. */
export const DEFAULT_OVERLAP_MS = 24 * HOUR;

/** Beside its own end: its owner can be somebody who is not active (any more), or nobody that is known. */
export type KeyState = "active" | "expired" | "revoked" | "owner_inactive" | "owner_unknown";

/** What a key's life depends on. */
type KeyValidityFields = Pick<ApiKeyWithOwner, "owner" | "user" | "revokedAt" | "expiresAt">;

/** Dead from its last moment on: at `now >= expires_at`. Its own end goes before that of its owner, who may come back. */
export function apiKeyState(key: KeyValidityFields, now: number): KeyState {
  if (key.revokedAt !== null) return "revoked";
  if (key.expiresAt !== null && now >= Date.parse(key.expiresAt)) return "expired";
  if (key.owner === OPERATOR) return "active";
  if (key.user === null) return "owner_unknown";
  return key.user.status === "active" ? "active" : "owner_inactive";
}

const INVALID_REASONS: Readonly<Record<Exclude<KeyState, "active">, string>> = {
  revoked: "is revoked",
  expired: "is expired",
  owner_inactive: "belongs to somebody who is not active",
  owner_unknown: "belongs to nobody who is known here",
};

/** The error of a key that has no life to hand on. */
export const invalidKeyError = (id: string, state: Exclude<KeyState, "active">): AppError =>
  new AppError(
    "api_key_dead",
    `${id} ${INVALID_REASONS[state]}; there is nothing to rotate. Make a new key instead.`,
  );

/**
 * When a rotated key and its successor end. Without a date of its own the successor gets as long a life as the old key
 * had; the old one never lives longer than it would have.
 * @param overlap milliseconds for which the old key lives on
 * @throws AppError api_key_dead
 */
export function rotationExpiries(
  old: KeyValidityFields & Pick<ApiKeyWithOwner, "id" | "createdAt">,
  now: number,
  { overlap, expiresAt }: { overlap: number; expiresAt?: string | undefined },
): { expiresAt: string | null; oldExpiresAt: string } {
  const state = apiKeyState(old, now);
  if (state !== "active") throw invalidKeyError(old.id, state);
  const lifetime = old.expiresAt === null ? null : Date.parse(old.expiresAt) - Date.parse(old.createdAt);
  return {
    expiresAt: expiresAt ?? (lifetime === null ? null : iso(now + lifetime)),
    oldExpiresAt: [iso(now + overlap), old.expiresAt].filter((it) => it !== null).toSorted()[0]!,
  };
}

/**
 * The end of a key's life as a person writes it: a bare date ends with that day, at 24:00 UTC.
 * @returns ISO 8601, or undefined when it is no date
 */
export function parseExpiry(value: string): string | undefined {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})(T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.exec(value) ?? [];
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // Date.parse turns 2026-02-30 into March: what comes back must be what was written.
  if (day === undefined || Number.isNaN(midnight) || !iso(midnight).startsWith(day)) return undefined;
  const end = time === undefined ? midnight + DAY : Date.parse(value);
  return Number.isNaN(end) ? undefined : iso(end);
}
