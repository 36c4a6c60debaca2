/** Creates and rotates API keys. */
import { DEFAULT_SCOPES, type Scope } from "../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { KeyLimits } from "../core/access.ts";
import { invalidKeyError, rotationExpiries } from "../core/api-key-lifecycle.ts";
import { type Clock, iso } from "../core/clock.ts";
import type { ApiKeyRecord, ApiKeyStore, ApiKeyWithOwner } from "../core/account-ports.ts";
import type { KeyApplication } from "../core/oauth-port.ts";
import { digestOf, newKeyValue, randomBase62 } from "./key-format.ts";

interface NewKey {
  name: string;
  owner: string;
  scopes?: readonly Scope[];
  /** ISO 8601; null or absent for a key that does not expire. */
  expiresAt?: string | null;
  /** Ids of its projects; default: the default one. */
  projects?: readonly string[];
  limits?: KeyLimits | null;
  /** The application that a person authorized; null or absent for an API key. */
  application?: KeyApplication | null;
}

/** A new key. Its value is available only here and is not stored. */
export interface CreatedKey {
  value: string;
  record: Omit<ApiKeyRecord, "lastUsedAt" | "revokedAt">;
}

/** Generates the value of a key, and the record and digest to store. */
export function generateApiKey(
  { name, owner, scopes, expiresAt, projects, limits, application }: NewKey,
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
    // Every other scope includes `read`.
    scopes: [...new Set<Scope>(["read", ...(scopes ?? DEFAULT_SCOPES)])],
    lineage: lineage ?? id,
    createdAt: iso(clock.now()),
    expiresAt: expiresAt ?? null,
    projects: projects ?? [DEFAULT_PROJECT],
    limits: limits ?? null,
    application: application ?? null,
  };
  return { value, record, digest: digestOf(value) };
}

/** Creates a key and stores its record. */
export async function createKey(store: ApiKeyStore, clock: Clock, key: NewKey): Promise<CreatedKey> {
  const { value, record, digest } = generateApiKey(key, undefined, clock);
  await store.insert({ ...record, digest }, key.owner);
  return { value, record };
}

/**
 * Creates a key with the same name, owner and scopes; the old key works for another `overlap` milliseconds. Without
 * `expiresAt`, the new key gets the same lifetime as the old one.
 * @throws AppError api_key_revoked, api_key_expired; user_not_active for a key whose owner is not active
 */
export async function rotateKey(
  store: ApiKeyStore,
  clock: Clock,
  old: ApiKeyWithOwner,
  { overlap, expiresAt }: { overlap: number; expiresAt?: string | undefined },
): Promise<CreatedKey & { oldExpiresAt: string }> {
  const expiries = rotationExpiries(old, clock.now(), { overlap, expiresAt });
  const { value, record, digest } = generateApiKey(
    {
      name: old.name,
      owner: old.owner,
      scopes: old.scopes,
      projects: old.projects,
      limits: old.limits,
      expiresAt: expiries.expiresAt,
    },
    old.lineage,
    clock,
  );
  // The store checks the old key in its transaction, because another server may have revoked it meanwhile.
  const rotated = await store.rotate(old.id, expiries.oldExpiresAt, { ...record, digest }, old.owner);
  if (!rotated) throw invalidKeyError(old.id, "revoked");
  return { value, record, oldExpiresAt: expiries.oldExpiresAt };
}
