import type { ApiKeyReader, ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { AppError } from "../../src/core/errors.ts";

/**
 * A key that this caller may know of.
 * @param mayKnow whose it may be
 * @throws AppError api_key_not_found, for another's as for none: nobody learns which ids there are
 */
export async function findApiKey(
  keys: Pick<ApiKeyReader, "find">,
  id: string,
  mayKnow: (key: ApiKeyWithOwner) => boolean,
): Promise<ApiKeyWithOwner> {
  const found = await keys.find(id);
  if (found !== undefined && mayKnow(found)) return found;
  throw new AppError(
    "api_key_not_found",
    `You have no API key "${id.slice(0, 100)}". list_api_keys (GET /api-keys) shows those that you have.`,
  );
}
