import { OPERATOR } from "../../schemas/actor.ts";
import type { ApiKeyWriter } from "../../src/core/account-ports.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";

/** More living ones than anybody keeps track of; each has a share of its own of what keys may have. */
const MAX_LIVING = 100;

/**
 * Asked in the transaction that has made a key, which is undone when it is one too many. `operator`, who is no one
 * person, may have any number.
 * @param now the present moment, in milliseconds
 * @throws AppError too_many_keys
 */
export async function enforceKeyLimit(keys: ApiKeyWriter, owner: string, now: number): Promise<void> {
  if (owner === OPERATOR || (await keys.countActive(owner, iso(now))) <= MAX_LIVING) return;
  throw new AppError(
    "too_many_keys",
    `You have ${MAX_LIVING} living keys, and nobody may have more. Revoke one first; list_api_keys shows them.`,
  );
}
