/** A secret that the sender sends in a header, such as GitLab's X-Gitlab-Token. It proves nothing about the body. */
import { headerOf, isEqual, missingHeader, refused } from "./parts.ts";
import type { CheckScheme } from "./types.ts";

/** The header of a trigger that names none. */
export const DEFAULT_SECRET_HEADER = "X-Webhook-Secret";

export const checkSharedSecret: CheckScheme = (request) => {
  const { header = DEFAULT_SECRET_HEADER, secrets } = request;
  const value = headerOf(request, header);
  if (value === undefined) return missingHeader(header, "Send the secret of this trigger in it.");
  const given = header.toLowerCase() === "authorization" ? value.replace(/^Bearer /i, "") : value;
  let found = false;
  for (const secret of secrets) found = isEqual(given, secret) || found;
  return found
    ? { valid: true, deliveryId: null }
    : refused(
        "mismatch",
        `The value of ${header} is not the secret of this trigger. Check the sender's settings.`,
      );
};
