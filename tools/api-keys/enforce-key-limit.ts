import { OPERATOR } from "../../schemas/actor.ts";
import type { ApiKeyWriter } from "../../src/core/account-ports.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";

/** Maximum number of active keys of a user. Limits per key would mean little if a user could have any number. */
const MAX_ACTIVE_KEYS = 100;

/**
 * Called in the transaction that creates a key, so that the error rolls it back. `operator` stands for several people
 * and has no limit.
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
