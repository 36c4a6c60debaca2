/** Stripe: https://docs.stripe.com/webhooks?verify=verify-manually */
import { timeRefusal } from "./moments.ts";
import { headerOf, isSigned, mismatch, missingHeader, refused } from "./parts.ts";
import type { CheckScheme } from "./types.ts";

const HEADER = "Stripe-Signature";

/** The id of a delivery is that of the event, in the body. */
export const checkStripe: CheckScheme = (request) => {
  const header = headerOf(request, HEADER);
  if (header === undefined) return missingHeader(HEADER, "Stripe sends it with each event.");
  const parts = header.split(",").map((part) => part.split(/=(.*)/s) as [string, string?]);
  const valuesOf = (name: string): string[] =>
    parts.flatMap(([key, value]) => (key === name && value !== undefined ? [value] : []));
  const [time, second] = valuesOf("t");
  const signatures = valuesOf("v1");
  if (time === undefined || second !== undefined || signatures.length === 0)
    return refused(
      "malformed",
      `${HEADER} must have one t= and at least one v1=, such as t=1492774577,v1=5257….`,
    );
  if (!isSigned([`${time}.`, request.body], request.secrets, signatures, "hex")) return mismatch(HEADER);
  return timeRefusal(time, request.now, HEADER) ?? { valid: true, deliveryId: null };
};
