import type { ApiKey, ApiKeyState } from "../../schemas/api-key.ts";
import type { ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { apiKeyState } from "../../src/core/api-key-lifecycle.ts";
import { DAY } from "../../src/core/clock.ts";

/** How long before its expiry a key counts as `expiring`. */
const EXPIRING_MS = 7 * DAY;

/** An API key as the API returns it. @param now milliseconds since the epoch */
export const serializeApiKey = (key: ApiKeyWithOwner, now: number): ApiKey => ({
  id: key.id,
  name: key.name,
  owner: key.owner,
  last_four: key.lastFour,
  scopes: key.scopes,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  last_used_at: key.lastUsedAt,
  state: stateOf(key, now),
});

function stateOf(key: ApiKeyWithOwner, now: number): ApiKeyState {
  const state = apiKeyState(key, now);
  if (state !== "active" || key.expiresAt === null) return state;
  return Date.parse(key.expiresAt) - now <= EXPIRING_MS ? "expiring" : "active";
}
