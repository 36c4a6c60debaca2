import { z } from "zod";
import { ApiKeyIdRef, SuccessorApiKey } from "../../schemas/api-key.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { Duration } from "../../schemas/workflow-definition.ts";
import { DEFAULT_OVERLAP_MS, invalidKeyError, rotationExpiries } from "../../src/core/api-key-lifecycle.ts";
import { DAY } from "../../src/core/clock.ts";
import { durationMs } from "../../src/core/duration.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { Expiry, validateExpiry } from "./expiry.ts";
import { findApiKey } from "./find-api-key.ts";
import { enforceKeyLimit } from "./enforce-key-limit.ts";
import { serializeApiKey } from "./serialize-api-key.ts";

const LONGEST_OVERLAP_MS = 30 * DAY;

const Overlap = Duration.refine(
  // What is no duration was said before.
  (overlap) => !Duration.safeParse(overlap).success || durationMs(overlap) <= LONGEST_OVERLAP_MS,
  { message: "must be at most 30 days", params: { code: "too_large" } },
);

export const rotateApiKey = defineTool({
  name: "rotate_api_key",
  title: "Rotate an API key",
  description:
    "Makes a new key with the name, scopes and length of life of one of yours, and lets the old one live on for the " +
    "overlap. The new value is in the answer this one time. Nobody but its owner can rotate a key.",
  route: "POST /api-keys/:key_id/rotate",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "act",
  noStore: true,
  errors: [
    "api_key_not_found",
    "api_key_revoked",
    "api_key_expired",
    "too_many_keys",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  example: { overlap: "24h" },
  input: z.strictObject({
    key_id: ApiKeyIdRef,
    overlap: Overlap.optional().meta({
      description:
        "For so long the old key goes on working, at most 30d; 24h when left out, 0s for not at all.",
      example: "24h",
    }),
    expires_at: Expiry.optional().meta({
      description:
        "When the new key ends, at most ten years ahead: a moment, or a day, with which it ends (24:00 UTC). " +
        "Left out, it gets as long a life as the old one had.",
      example: "2027-01-31",
    }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: SuccessorApiKey,
  async run({ key_id, overlap, expires_at }, ctx) {
    const { owner } = ctx.actor.principal;
    const now = ctx.now();
    const { expiresAt, issues } = validateExpiry(expires_at, now);
    if (issues.length > 0) throw invalidInput(issues);
    let value: string | null = null;
    // Outside of what is recorded with the idempotency key: the value is stored nowhere.
    const key = await ctx.write(async (tx) => {
      // Not even by an admin: the value would let them act in another's name.
      const old = await findApiKey(tx.apiKeys, key_id, (it) => it.owner === owner);
      const lives = rotationExpiries(old, now, {
        overlap: overlap === undefined ? DEFAULT_OVERLAP_MS : durationMs(overlap),
        expiresAt,
      });
      const { name, scopes, lineage } = old;
      const next = ctx.accounts.newKey({ name, owner, scopes, expiresAt: lives.expiresAt }, lineage);
      if (!(await tx.apiKeys.rotate(old.id, lives.oldExpiresAt, next.record)))
        throw invalidKeyError(old.id, "revoked");
      // Both live for a while: rotating one key over and over would make any number.
      await enforceKeyLimit(tx.apiKeys, owner, now);
      await tx.recordAudit(old.id);
      value = next.value;
      const shown = serializeApiKey(
        await findApiKey(tx.apiKeys, next.record.id, (it) => it.owner === owner),
        now,
      );
      return { ...shown, replaces: { id: old.id, expires_at: lives.oldExpiresAt } };
    });
    return { ...key, value };
  },
});
