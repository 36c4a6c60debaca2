/** The rules for the validity, expiry and rotation of API keys. */
import { OPERATOR } from "../../schemas/actor.ts";
import type { ApiKeyWithOwner } from "./account-ports.ts";
import { DAY, HOUR, iso } from "./clock.ts";
import { AppError, type ErrorCode } from "./errors.ts";

/** How long a rotated key keeps working by default, in milliseconds. */
export const DEFAULT_OVERLAP_MS = 24 * HOUR;

/** A key is also invalid when its owner is not active, or does not exist. */
export type KeyState = "active" | "expired" | "revoked" | "owner_inactive" | "owner_unknown";

type KeyValidityFields = Pick<ApiKeyWithOwner, "owner" | "user" | "revokedAt" | "expiresAt">;

/** A key is expired at `now >= expires_at`. Its own end is reported before that of its owner, who may be reactivated. */
export function apiKeyState(key: KeyValidityFields, now: number): KeyState {
  if (key.revokedAt !== null) return "revoked";
  if (key.expiresAt !== null && now >= Date.parse(key.expiresAt)) return "expired";
  if (key.owner === OPERATOR) return "active";
  if (key.user === null) return "owner_unknown";
  return key.user.status === "active" ? "active" : "owner_inactive";
}

/**
 * A key with the end of what it stands for. An application renews its token for longer than the token lives, unless it has
 * nothing to renew it with.
 */
export function withLastingEnd<K extends Pick<ApiKeyWithOwner, "application" | "expiresAt">>(key: K): K {
  const { application, expiresAt } = key;
  if (application === null || expiresAt === null || expiresAt > application.renewableUntil) return key;
  return { ...key, expiresAt: application.renewableUntil };
}

const INVALID_KEY_ERRORS = {
  revoked: { code: "api_key_revoked", reason: "it is revoked" },
  expired: { code: "api_key_expired", reason: "it has expired" },
  owner_inactive: { code: "user_not_active", reason: "its owner is not active" },
  owner_unknown: { code: "user_not_active", reason: "its owner does not exist" },
} as const satisfies Record<Exclude<KeyState, "active">, { code: ErrorCode; reason: string }>;

/** The error for rotating a key that is no longer valid. */
export function invalidKeyError(id: string, state: Exclude<KeyState, "active">): AppError {
  const { code, reason } = INVALID_KEY_ERRORS[state];
  return new AppError(code, `The API key ${id} can't be rotated: ${reason}. Create a new key instead.`);
}

/**
 * When a rotated key and its successor expire. Without `expiresAt` the successor is valid for as long as the old key
 * was; the old key never expires later than it would have without the rotation.
 * @param overlap how long the old key keeps working, in milliseconds
 * @throws AppError api_key_of_application, api_key_revoked, api_key_expired; user_not_active when the key's owner is not active
 */
export function rotationExpiries(
  old: KeyValidityFields & Pick<ApiKeyWithOwner, "id" | "createdAt" | "application">,
  now: number,
  { overlap, expiresAt }: { overlap: number; expiresAt?: string | undefined },
): { expiresAt: string | null; oldExpiresAt: string } {
  if (old.application !== null)
    throw new AppError(
      "api_key_of_application",
      `${old.id} is the access of an application, which renews its token itself. Revoke it to end the access.`,
    );
  const state = apiKeyState(old, now);
  if (state !== "active") throw invalidKeyError(old.id, state);
  const lifetime = old.expiresAt === null ? null : Date.parse(old.expiresAt) - Date.parse(old.createdAt);
  return {
    expiresAt: expiresAt ?? (lifetime === null ? null : iso(now + lifetime)),
    oldExpiresAt: [iso(now + overlap), old.expiresAt].filter((time) => time !== null).toSorted()[0]!,
  };
}

/**
 * Parses an expiry as a person writes it: a date alone means the end of that day, 24:00 UTC.
 * @returns ISO 8601, or undefined when it is not a date
 */
export function parseExpiry(value: string): string | undefined {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})(T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.exec(value) ?? [];
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // Date.parse turns 2026-02-30 into a day in March, so the result must be the day that was written.
  if (day === undefined || Number.isNaN(midnight) || !iso(midnight).startsWith(day)) return undefined;
  const end = time === undefined ? midnight + DAY : Date.parse(value);
  return Number.isNaN(end) ? undefined : iso(end);
}
