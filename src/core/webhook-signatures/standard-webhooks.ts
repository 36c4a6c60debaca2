/** Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
import { headerOf, idOf, isSigned, mismatch, missingHeader, refused, timeRefusal } from "./parts.ts";
import type { CheckScheme } from "./types.ts";

const HINT = "Standard Webhooks sends webhook-id, webhook-timestamp and webhook-signature.";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Symmetric signatures (`v1`); those with other versions are ignored, as the specification says. */
export const checkStandardWebhooks: CheckScheme = (request) => {
  const id = headerOf(request, "webhook-id");
  const time = headerOf(request, "webhook-timestamp");
  const signatures = headerOf(request, "webhook-signature");
  if (id === undefined) return missingHeader("webhook-id", HINT);
  if (time === undefined) return missingHeader("webhook-timestamp", HINT);
  if (signatures === undefined) return missingHeader("webhook-signature", HINT);
  if (idOf(id) === null) return refused("malformed", "webhook-id is longer than 200 characters.");
  const keys = request.secrets.map(keyOf);
  if (keys.includes(undefined))
    return refused(
      "unusable_secret",
      "The secret must be base64, with whsec_ before it, as Standard Webhooks writes it. Ask the operator to correct it.",
    );
  const versions = signatures.split(" ").filter((one) => one.startsWith("v1,"));
  if (versions.length === 0)
    return refused("malformed", "webhook-signature has no signature of version v1, such as v1,K5oZfz….");
  const content = [`${id}.${time}.`, request.body];
  const given = versions.map((one) => one.slice("v1,".length));
  if (!isSigned(content, keys as Buffer[], given, "base64")) return mismatch("webhook-signature");
  return timeRefusal(time, request.now, "webhook-timestamp") ?? { valid: true, deliveryId: id };
};

function keyOf(secret: string): Buffer | undefined {
  const text = secret.replace(/^whsec_/, "");
  return BASE64.test(text) ? Buffer.from(text, "base64") : undefined;
}
