/** An API key as it is told. */
import type { ApiKey, ApiKeyState } from "../../schemas/api-key.ts";
import type { ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { apiKeyState } from "../../src/core/api-key-lifecycle.ts";
import { DAY } from "../../src/core/clock.ts";

/** So long before its end a key is `expiring`. */
const WARNING_MS = 7 * DAY;

/** @param now milliseconds */
export const serializeApiKey = (key: ApiKeyWithOwner, now: number): ApiKey => ({
  id: key.id,
  name: key.name,
  owner: key.owner,
  last_four: key.lastFour,
  scopes: key.scopes,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  last_used_at: key.lastUsedAt,
  state: shownState(key, now),
});

function shownState(key: ApiKeyWithOwner, now: number): ApiKeyState {
  const state = apiKeyState(key, now);
  if (state !== "active" || key.expiresAt === null) return state;
  return Date.parse(key.expiresAt) - now <= WARNING_MS ? "expiring" : "active";
}
