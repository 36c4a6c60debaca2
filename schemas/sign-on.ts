/** Why a sign-in through the identity provider failed. The sign-in page explains each code. */
import { z } from "zod";

/** Why a user whom the provider has authenticated is refused here. */
export const RefusalReason = z.enum([
  "no_role",
  "no_email",
  "email_not_verified",
  "address_taken",
  "deactivated",
]);
export type RefusalReason = z.infer<typeof RefusalReason>;

/** All reasons, including errors on the way to the provider and back. */
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
