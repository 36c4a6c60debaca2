import { OPERATOR } from "../../schemas/actor.ts";
import type { ApiKeyWriter } from "../../src/core/account-ports.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";

/** Maximum number of active keys of a user. With any number of keys, a user could evade limits per key. */
const MAX_ACTIVE_KEYS = 100;

/**
 * Refuses a further key of a user who has the maximum. Called in the transaction that creates a key, so that the error
 * rolls it back. Keys of `operator` have no limit, because several people use them.
 * @param now milliseconds since the epoch
 * @throws AppError too_many_keys
 */
export async function enforceKeyLimit(keys: ApiKeyWriter, owner: string, now: number): Promise<void> {
  if (owner === OPERATOR || (await keys.countActive(owner, iso(now))) <= MAX_ACTIVE_KEYS) return;
  throw new AppError(
    "too_many_keys",
    `You have ${MAX_ACTIVE_KEYS} active API keys, the maximum. Revoke one first; list_api_keys (GET /api-keys) shows them.`,
  );
}
