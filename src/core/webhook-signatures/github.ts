/** GitHub: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
import { headerOf, idOf, isSigned, mismatch, missingHeader, refused } from "./parts.ts";
import type { CheckScheme } from "./types.ts";

const HEADER = "X-Hub-Signature-256";

/** GitHub signs neither a time nor the id of the delivery. */
export const checkGithub: CheckScheme = (request) => {
  const signature = headerOf(request, HEADER);
  if (signature === undefined)
    return missingHeader(HEADER, "GitHub sends it once the webhook has a secret: set one there.");
  if (!/^sha256=[0-9a-f]{64}$/.test(signature))
    return refused("malformed", `${HEADER} must be sha256= and 64 lower-case hexadecimal digits.`);
  return isSigned([request.body], request.secrets, [signature.slice("sha256=".length)], "hex")
    ? { valid: true, deliveryId: idOf(headerOf(request, "X-GitHub-Delivery")) }
    : mismatch(HEADER);
};
