/**
 * The signing secrets of subscriptions, and signatures as Standard Webhooks says (github.com/standard-webhooks/standard-webhooks).
 * A secret is derived from a key of the instance, so that none is stored.
 */
import { createHmac, hkdfSync } from "node:crypto";
import type { SubscriptionRecord } from "./subscription-ports.ts";

/** Length of a signing secret, in bytes. Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;
const PREFIX = "whsec_";

/** What a secret is derived from. */
type Signer = Pick<SubscriptionRecord, "id" | "generation">;

export interface SigningSecrets {
  /** The secret as receivers get it: `whsec_` and base64. */
  secretOf(signer: Signer): string;
  /**
   * The headers of a delivery.
   * @param now when the attempt begins, in milliseconds since 1970
   * @param body as it is sent, to the byte
   */
  headersFor(
    subscription: Signer & Pick<SubscriptionRecord, "previousUntil">,
    delivery: { id: string; now: number; body: string },
  ): Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>;
}

/** @param key a secret that all processes of this instance share */
export function signingSecrets(key: Buffer): SigningSecrets {
  const bytesOf = ({ id, generation }: Signer): Buffer =>
    Buffer.from(hkdfSync("sha256", key, "", `subscription ${id} ${generation}`, SECRET_BYTES));
  return {
    secretOf: (signer) => `${PREFIX}${bytesOf(signer).toString("base64")}`,
    headersFor({ id, generation, previousUntil }, delivery) {
      const at = Math.floor(delivery.now / 1_000);
      const signatureOf = (signer: Signer): string =>
        `v1,${createHmac("sha256", bytesOf(signer)).update(`${delivery.id}.${at}.${delivery.body}`).digest("base64")}`;
      const withPrevious = previousUntil !== null && Date.parse(previousUntil) > delivery.now;
      const generations = withPrevious ? [generation, generation - 1] : [generation];
      return {
        "webhook-id": delivery.id,
        "webhook-timestamp": String(at),
        "webhook-signature": generations.map((one) => signatureOf({ id, generation: one })).join(" "),
      };
    },
  };
}
