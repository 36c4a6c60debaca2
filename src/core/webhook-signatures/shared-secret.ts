/** A secret that the sender sends in a header, such as GitLab's X-Gitlab-Token. It proves nothing about the body. */
import { headerOf, isEqual, missingHeader, refused } from "./parts.ts";
import type { CheckScheme } from "./types.ts";

/** The header of a trigger that names none. */
export const DEFAULT_SECRET_HEADER = "X-Webhook-Secret";

export const checkSharedSecret: CheckScheme = (request, { header = DEFAULT_SECRET_HEADER }) => {
  const value = headerOf(request, header);
  if (value === undefined) return missingHeader(header, "Send the secret of this trigger in it.");
  const given = header.toLowerCase() === "authorization" ? value.replace(/^Bearer /i, "") : value;
  let found = false;
  // A header has no white space around its value (RFC 9110, section 5.5).
  for (const secret of request.secrets) found = isEqual(given, secret.trim()) || found;
  return found
    ? { valid: true, deliveryId: null }
    : refused(
        "mismatch",
        `The value of ${header} is not the secret of this trigger. Check the sender's settings.`,
      );
};
