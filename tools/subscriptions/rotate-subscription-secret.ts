import { z } from "zod";
import { Duration } from "../../schemas/field-values.ts";
import { NewSubscription, SubscriptionIdRef } from "../../schemas/subscription.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { DAY, iso } from "../../src/core/clock.ts";
import { durationMs } from "../../src/core/duration.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findSubscription } from "./find-subscription.ts";
import { saveSubscription } from "./save-subscription.ts";
import { serializeSubscription } from "./serialize-subscription.ts";

/** Maximum time for which two secrets sign. */
const MAX_OVERLAP_MS = 30 * DAY;

const Overlap = Duration.refine(
  // An invalid duration is reported by the schema itself.
  (overlap) => !Duration.safeParse(overlap).success || durationMs(overlap) <= MAX_OVERLAP_MS,
  { message: "must be at most 30 days", params: { code: "too_large" } },
);

export const rotateSubscriptionSecret = defineTool({
  name: "rotate_subscription_secret",
  title: "Replace a signing secret",
  description:
    "Replaces the signing secret of a subscription. Until the overlap is over, deliveries carry a signature of each of the two, so that the receiver can change in between. The new one is only in this answer.",
  route: "POST /subscriptions/:subscription_id/rotate",
  surfaces: ["rest"],
  scope: "admin",
  effect: "act",
  noStore: true,
  errors: ["subscription_not_found", "subscription_not_signed", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    subscription_id: SubscriptionIdRef,
    overlap: Overlap.default("24h").meta({
      description: "How long the secret before signs too, at most 30d: 0s if it has become known.",
      example: "24h",
    }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: NewSubscription,
  async run({ subscription_id: id, overlap }, ctx) {
    const overlapMs = durationMs(overlap);
    const { generation, ...rotated } = await ctx.write(async (tx) => {
      const before = await findSubscription(tx, id);
      if (before.format !== "standard_webhooks")
        throw new AppError(
          "subscription_not_signed",
          `The subscription ${id} posts to a chat (${before.format}), which checks no signature. Replace the URL of its webhook instead, in the secret that url_secret names.`,
        );
      const previousUntil = overlapMs === 0 ? null : iso(ctx.now() + overlapMs);
      const change = { generation: before.generation + 1, previousUntil };
      const after = await saveSubscription(ctx, tx, before, change);
      return { ...(await serializeSubscription(tx, after, ctx.now())), generation: after.generation };
    });
    return { ...rotated, secret: ctx.engine.signingSecret({ id, generation }) };
  },
});
