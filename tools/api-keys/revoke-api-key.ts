import { z } from "zod";
import { ApiKey, ApiKeyIdRef } from "../../schemas/api-key.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import type { ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { isInstanceAdmin } from "../../src/core/access.ts";
import { iso } from "../../src/core/clock.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findApiKey } from "./find-api-key.ts";
import { serializeApiKey } from "./serialize-api-key.ts";

export const revokeApiKey = defineTool({
  name: "revoke_api_key",
  title: "Revoke an API key",
  description:
    "Revokes an API key immediately and permanently, and closes its open streams. Admins can revoke anyone's key, others their own.",
  route: "POST /api-keys/:key_id/revoke",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "act",
  errors: ["api_key_not_found", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ key_id: ApiKeyIdRef, idempotency_key: IdempotencyKey.optional() }),
  output: ApiKey,
  async run({ key_id }, ctx) {
    const { owner, access } = ctx.actor.principal;
    const now = ctx.now();
    const isRevocable = (key: ApiKeyWithOwner): boolean => key.owner === owner || isInstanceAdmin(access);
    return ctx.write(async (tx) => {
      const key = await findApiKey(tx.apiKeys, key_id, isRevocable);
      const revokedAt = key.revokedAt ?? iso(now);
      if (await tx.apiKeys.revoke(key.id, revokedAt)) await tx.recordAudit(key.id);
      return serializeApiKey({ ...key, revokedAt }, now);
    });
  },
});
