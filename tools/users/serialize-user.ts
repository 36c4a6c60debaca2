import type { User } from "../../schemas/user.ts";
import type { UserRecord } from "../../src/core/account-ports.ts";

/** A user as the API returns it. */
export const serializeUser = (user: UserRecord): User => ({
  id: user.id,
  email: user.email,
  role: user.role,
  verified: user.verifiedAt !== null,
  second_factor: user.hasSecondFactor,
  status: user.status,
  role_by: user.roleSource,
  created_at: user.createdAt,
  created_by: user.createdBy,
  last_login_at: user.lastLoginAt,
});
