/** The life of API keys: made, listed, rotated, revoked. */
import { DEFAULT_SCOPES, type Scope } from "../../schemas/actor.ts";
import { invalidKeyError, rotationExpiries } from "../core/api-key-lifecycle.ts";
import { type Clock, iso } from "../core/clock.ts";
import type { ApiKeyRecord, ApiKeyStore, ApiKeyWithOwner } from "../core/account-ports.ts";
import { digestOf, newKeyValue, randomBase62 } from "./key-format.ts";

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

/** A key's value, which is here this one time, and what is kept of it. */
export function generateApiKey(
  { name, owner, scopes, expiresAt }: NewKey,
  lineage: string | undefined,
  clock: Clock,
) {
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
  const { value, record, digest } = generateApiKey(key, undefined, clock);
  await store.insert({ ...record, digest }, key.owner);
  return { value, record };
}

/**
 * Makes a key with the same name, owner and scopes, and lets the old one live for `overlap` milliseconds. Without a
 * date of its own the new one gets as long a life as the old one had.
 * @throws AppError api_key_revoked, api_key_expired; user_not_active for a key whose owner is not active
 */
export async function rotateKey(
  store: ApiKeyStore,
  clock: Clock,
  old: ApiKeyWithOwner,
  { overlap, expiresAt }: { overlap: number; expiresAt?: string | undefined },
): Promise<CreatedKey & { oldExpiresAt: string }> {
  const lives = rotationExpiries(old, clock.now(), { overlap, expiresAt });
  const { value, record, digest } = generateApiKey(
    {
      name: old.name,
      owner: old.owner,
      scopes: old.scopes,
      expiresAt: lives.expiresAt,
    },
    old.lineage,
    clock,
  );
  // In the store's own transaction: another copy may have revoked it just now.
  const done = await store.rotate(old.id, lives.oldExpiresAt, { ...record, digest }, old.owner);
  if (!done) throw invalidKeyError(old.id, "revoked");
  return { value, record, oldExpiresAt: lives.oldExpiresAt };
}
