import { z } from "zod";
import { ApiKeyIdRef, SuccessorApiKey } from "../../schemas/api-key.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { Duration } from "../../schemas/field-values.ts";
import type { ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { DEFAULT_OVERLAP_MS, invalidKeyError, rotationExpiries } from "../../src/core/api-key-lifecycle.ts";
import { DAY } from "../../src/core/clock.ts";
import { durationMs } from "../../src/core/duration.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { Expiry, validateExpiry } from "./expiry.ts";
import { findApiKey } from "./find-api-key.ts";
import { enforceKeyLimit } from "./enforce-key-limit.ts";
import { serializeApiKey } from "./serialize-api-key.ts";

/** Maximum overlap, in milliseconds. */
const MAX_OVERLAP_MS = 30 * DAY;

const Overlap = Duration.refine(
  // An invalid duration is reported by the schema itself.
  (overlap) => !Duration.safeParse(overlap).success || durationMs(overlap) <= MAX_OVERLAP_MS,
  { message: "must be at most 30 days", params: { code: "too_large" } },
);

export const rotateApiKey = defineTool({
  name: "rotate_api_key",
  title: "Rotate an API key",
  description:
    "Creates a new API key with the name, scopes, projects, limits and lifetime of one of yours. The old key keeps working for the overlap. " +
    "The new value is only in this answer. Only its owner can rotate a key.",
  route: "POST /api-keys/:key_id/rotate",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "act",
  noStore: true,
  errors: [
    "api_key_not_found",
    "api_key_of_application",
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
      description: "How long the old key keeps working, at most 30d; 0s ends it immediately. Default: 24h.",
      example: "24h",
    }),
    expires_at: Expiry.optional().meta({
      description:
        "When the new key expires, at most ten years ahead: a time, or a date for the end of that day (24:00 UTC). " +
        "Default: after the same lifetime as the old key.",
      example: "2027-01-31",
    }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: SuccessorApiKey,
  async run({ key_id, overlap, expires_at }, ctx) {
    const { owner } = ctx.actor.principal;
    const isOwn = (key: ApiKeyWithOwner): boolean => key.owner === owner;
    const now = ctx.now();
    const { expiresAt, issues } = validateExpiry(expires_at, now);
    if (issues.length > 0) throw invalidInput(issues);
    let value: string | null = null;
    // The value is set outside of the recorded result, because it must not be stored.
    const key = await ctx.write(async (tx) => {
      // Not even an admin may rotate another user's key: with the new value they could act in that user's name.
      const old = await findApiKey(tx.apiKeys, key_id, isOwn);
      const expiries = rotationExpiries(old, now, {
        overlap: overlap === undefined ? DEFAULT_OVERLAP_MS : durationMs(overlap),
        expiresAt,
      });
      const { name, scopes, projects, limits, lineage } = old;
      const next = ctx.accounts.newKey(
        { name, owner, scopes, projects, limits, expiresAt: expiries.expiresAt },
        lineage,
      );
      if (!(await tx.apiKeys.rotate(old.id, expiries.oldExpiresAt, next.record)))
        throw invalidKeyError(old.id, "revoked");
      // Both keys are active during the overlap, so repeated rotation could create any number.
      await enforceKeyLimit(tx.apiKeys, owner, now);
      await tx.recordAudit(old.id);
      value = next.value;
      const successor = serializeApiKey(await findApiKey(tx.apiKeys, next.record.id, isOwn), now);
      return { ...successor, replaces: { id: old.id, expires_at: expiries.oldExpiresAt } };
    });
    return { ...key, value };
  },
});
