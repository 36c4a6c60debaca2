import type { UserReader, UserRecord } from "../../src/core/account-ports.ts";
import { AppError } from "../../src/core/errors.ts";

/** @throws AppError user_not_found */
export async function findUser(users: Pick<UserReader, "find">, id: string): Promise<UserRecord> {
  const found = await users.find(id);
  if (found !== undefined) return found;
  throw new AppError(
    "user_not_found",
    `There is no user "${id.slice(0, 100)}". list_users (GET /users) shows those that exist.`,
  );
}
