/** Why somebody did not come in through the identity provider: the page for signing in says it in words. */
import { z } from "zod";

/** Why whom the provider knows is not let in here. */
export const RefusalReason = z.enum([
  "no_role",
  "no_email",
  "email_not_verified",
  "address_taken",
  "deactivated",
]);
export type RefusalReason = z.infer<typeof RefusalReason>;

/** What may go wrong on the way to the provider and back. */
export const SignInErrorCode = z.enum([
  ...RefusalReason.options,
  "denied",
  "flow_expired",
  "state_mismatch",
  "code_expired",
  "provider_refused",
  "provider_unavailable",
  "not_verified",
  "too_many_attempts",
  "busy",
  "internal",
]);
export type SignInErrorCode = z.infer<typeof SignInErrorCode>;
