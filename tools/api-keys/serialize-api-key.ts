import type { ApiKey, ApiKeyState } from "../../schemas/api-key.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { KeyLimits } from "../../src/core/access.ts";
import type { ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { apiKeyState, withLastingEnd } from "../../src/core/api-key-lifecycle.ts";
import { DAY } from "../../src/core/clock.ts";

/** How long before its expiry a key counts as `expiring`. */
const EXPIRING_MS = 7 * DAY;

/** An API key as the API returns it. @param now milliseconds since the epoch */
export const serializeApiKey = (key: ApiKeyWithOwner, now: number): ApiKey => ({
  ...serializeEnd(withLastingEnd(key), now),
  id: key.id,
  name: key.name,
  owner: key.owner,
  last_four: key.lastFour,
  scopes: key.scopes,
  created_at: key.createdAt,
  last_used_at: key.lastUsedAt,
  ...serializeKeyArea(key),
  ...(key.application !== null && {
    application: { client_id: key.application.clientId, host: key.application.host },
  }),
});

const serializeEnd = (key: ApiKeyWithOwner, now: number): Pick<ApiKey, "expires_at" | "state"> => ({
  expires_at: key.expiresAt,
  state: stateOf(key, now),
});

/** The projects and limits of a key, as far as it has other ones than the default. */
export const serializeKeyArea = ({
  projects,
  limits,
}: Pick<ApiKeyWithOwner, "projects" | "limits">): Pick<ApiKey, "projects" | "limits"> => ({
  ...(isDefaultOnly(projects) ? {} : { projects: [...projects] }),
  ...(limits !== null && { limits: toWireLimits(limits) }),
});

const isDefaultOnly = (projects: readonly string[]): boolean =>
  projects.length === 1 && projects[0] === DEFAULT_PROJECT;

const toWireLimits = ({ workflows, tools, databases, models }: KeyLimits): ApiKey["limits"] => ({
  ...(workflows && { workflows: [...workflows] }),
  ...(tools && { tools: [...tools] }),
  ...(databases && { databases: [...databases] }),
  ...(models && { models: [...models] }),
});

function stateOf(key: ApiKeyWithOwner, now: number): ApiKeyState {
  const state = apiKeyState(key, now);
  if (state !== "active" || key.expiresAt === null) return state;
  return Date.parse(key.expiresAt) - now <= EXPIRING_MS ? "expiring" : "active";
}
