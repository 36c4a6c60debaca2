import type { ApiKeyReader, ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { AppError } from "../../src/core/errors.ts";

/**
 * Finds an API key.
 * @param isVisible whether the caller may see the key
 * @throws AppError api_key_not_found, also for a key that is not visible, so that callers can't probe for ids
 */
export async function findApiKey(
  keys: Pick<ApiKeyReader, "find">,
  id: string,
  isVisible: (key: ApiKeyWithOwner) => boolean,
): Promise<ApiKeyWithOwner> {
  const found = await keys.find(id);
  if (found !== undefined && isVisible(found)) return found;
  throw new AppError(
    "api_key_not_found",
    `You have no API key "${id.slice(0, 100)}". list_api_keys (GET /api-keys) shows yours.`,
  );
}
