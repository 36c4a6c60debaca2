import type { CountedAttempt } from "../../auth/throttle.ts";
import type { SessionContext } from "./endpoint.ts";

/** Compares a password with a hash. If that is not possible now, the attempt is not counted. */
export async function verifyPassword(
  ctx: Pick<SessionContext, "signIn">,
  attempt: CountedAttempt,
  password: string,
  hash: string | null,
) {
  try {
    return await ctx.signIn.passwords.verify(password, hash);
  } catch (error) {
    await attempt.refund();
    throw error;
  }
}
