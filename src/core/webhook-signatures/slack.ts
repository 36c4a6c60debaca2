/** Slack: https://docs.slack.dev/authentication/verifying-requests-from-slack */
import { timeRefusal } from "./moments.ts";
import { headerOf, isSigned, mismatch, missingHeader, refused } from "./parts.ts";
import type { CheckScheme } from "./types.ts";

const SIGNATURE = "X-Slack-Signature";
const TIME = "X-Slack-Request-Timestamp";
const HINT = "Slack sends X-Slack-Signature and X-Slack-Request-Timestamp with each request.";

/** Checks requests of events, interactions and commands alike. The id of a delivery is `event_id` in the body of an event. */
export const checkSlack: CheckScheme = (request) => {
  const signature = headerOf(request, SIGNATURE);
  const time = headerOf(request, TIME);
  if (signature === undefined) return missingHeader(SIGNATURE, HINT);
  if (time === undefined) return missingHeader(TIME, HINT);
  if (!/^v0=[0-9a-f]{64}$/.test(signature))
    return refused("malformed", `${SIGNATURE} must be v0= and 64 lower-case hexadecimal digits.`);
  const given = [signature.slice("v0=".length)];
  if (!isSigned([`v0:${time}:`, request.body], request.secrets, given, "hex")) return mismatch(SIGNATURE);
  return timeRefusal(time, request.now, TIME) ?? { valid: true, deliveryId: null };
};
