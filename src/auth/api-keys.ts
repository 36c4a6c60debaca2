/** The life of API keys: made, listed, rotated, revoked. */
import { DEFAULT_SCOPES, type Scope } from "../../schemas/actor.ts";
import { type Clock, DAY, HOUR, iso } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { ApiKeyRecord, ApiKeyStore } from "../core/ports.ts";
import { digestOf, newKeyValue, randomBase62 } from "./key-format.ts";

/** How long a rotated key goes on working when nothing is said. */
export const DEFAULT_OVERLAP_MS = 24 * HOUR;

interface NewKey {
  name: string;
  owner: string;
  scopes?: readonly Scope[];
  /** ISO 8601, or nothing for a key that does not expire. */
  expiresAt?: string | null;
}

/** The value is here this one time, and stored nowhere. */
export interface CreatedKey {
  value: string;
  record: Omit<ApiKeyRecord, "lastUsedAt" | "revokedAt">;
}

function draft({ name, owner, scopes, expiresAt }: NewKey, lineage: string | undefined, clock: Clock) {
  const value = newKeyValue();
  const id = `key_${randomBase62(12)}`;
  const record = {
    id,
    name,
    owner,
    lastFour: value.slice(-4),
    // `read` is part of every other.
    scopes: [...new Set<Scope>(["read", ...(scopes ?? DEFAULT_SCOPES)])],
    lineage: lineage ?? id,
    createdAt: iso(clock.now()),
    expiresAt: expiresAt ?? null,
  };
  return { value, record, digest: digestOf(value) };
}

/** Makes a key. */
export async function createKey(store: ApiKeyStore, clock: Clock, key: NewKey): Promise<CreatedKey> {
  const { value, record, digest } = draft(key, undefined, clock);
  await store.insert({ ...record, digest }, key.owner);
  return { value, record };
}

/**
 * Makes a key with the same name, owner and scopes, and lets the old one live for `overlap` milliseconds. Without a
 * date of its own the new one gets as long a life as the old one had.
 * @throws AppError api_key_dead: it has no life to hand on
 */
export async function rotateKey(
  store: ApiKeyStore,
  clock: Clock,
  old: ApiKeyRecord,
  { overlap, expiresAt }: { overlap: number; expiresAt?: string | undefined },
): Promise<CreatedKey & { oldExpiresAt: string }> {
  const now = clock.now();
  const state = stateOf(old, now);
  if (state !== "active") throw deadKey(old.id, state);
  const lifetime = old.expiresAt === null ? null : Date.parse(old.expiresAt) - Date.parse(old.createdAt);
  const { value, record, digest } = draft(
    {
      name: old.name,
      owner: old.owner,
      scopes: old.scopes,
      expiresAt: expiresAt ?? (lifetime === null ? null : iso(now + lifetime)),
    },
    old.lineage,
    clock,
  );
  const oldExpiresAt = [iso(now + overlap), old.expiresAt].filter((it) => it !== null).toSorted()[0]!;
  // In the store's own transaction: another copy may have revoked it just now.
  const done = await store.rotate(old.id, oldExpiresAt, { ...record, digest }, old.owner);
  if (!done) throw deadKey(old.id, "revoked");
  return { value, record, oldExpiresAt };
}

const deadKey = (id: string, state: KeyState): AppError =>
  new AppError("api_key_dead", `${id} is ${state}; there is nothing to rotate. Make a new key instead.`);

export type KeyState = "active" | "expired" | "revoked";

/** Dead from its last moment on: at `now >= expires_at`. */
export function stateOf(key: Pick<ApiKeyRecord, "revokedAt" | "expiresAt">, now: number): KeyState {
  if (key.revokedAt !== null) return "revoked";
  return key.expiresAt !== null && now >= Date.parse(key.expiresAt) ? "expired" : "active";
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
