/** Why a sign-in through the identity provider failed. The sign-in page explains each code. */

/** Why a user whom the provider has authenticated is refused here. */
export type RefusalReason = "no_role" | "no_email" | "email_not_verified" | "address_taken" | "deactivated";

/** All reasons, including errors on the way to the provider and back. */
export type SignInErrorCode =
  | RefusalReason
  | "denied"
  | "flow_expired"
  | "state_mismatch"
  | "code_expired"
  | "provider_refused"
  | "provider_unavailable"
  | "not_verified"
  | "too_many_attempts"
  | "busy"
  | "internal";
