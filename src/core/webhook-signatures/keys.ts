/** The key of an HMAC, of the text that the sender shows as its secret. */
import { standardWebhooksKey } from "./standard-webhooks.ts";
import type { SignatureSettings } from "./types.ts";

/** @returns undefined for a text that is not written in the encoding */
export function keyOf(
  secret: string,
  { secret_encoding: encoding }: Pick<SignatureSettings, "secret_encoding">,
): string | Buffer | undefined {
  if (encoding === "base64") return standardWebhooksKey(secret);
  if (encoding === "hex")
    return /^(?:[0-9a-f]{2})+$/i.test(secret.trim()) ? Buffer.from(secret.trim(), "hex") : undefined;
  return secret;
}
