import { z } from "zod";
import { DEFAULT_SCOPES, Scope } from "../../schemas/actor.ts";
import { ApiKeyName, NewApiKey } from "../../schemas/api-key.ts";
import type { Issue } from "../../schemas/problem.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { Expiry, validateExpiry } from "./expiry.ts";
import { findApiKey } from "./find-api-key.ts";
import { enforceKeyLimit } from "./enforce-key-limit.ts";
import { serializeApiKey } from "./serialize-api-key.ts";

export const createApiKey = defineTool({
  name: "create_api_key",
  title: "Create an API key",
  description:
    "Makes a key that acts for you. Its value is in the answer this one time and stored nowhere. " +
    "It may do what its scopes and your role both allow.",
  route: "POST /api-keys",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "create",
  noStore: true,
  errors: ["too_many_keys", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  example: { name: "ci", scopes: ["read", "run"], expires_at: "2027-01-31" },
  input: z.strictObject({
    name: ApiKeyName,
    expires_at: Expiry.optional(),
    scopes: z
      .array(Scope)
      .max(Scope.options.length)
      .optional()
      .meta({
        description:
          "What it may do; read is part of all. Left out: read, write and run, as far as your role allows them.",
        example: ["read", "run"],
      }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: NewApiKey,
  async run({ name, expires_at, scopes: wanted }, ctx) {
    const { owner, scopes: allowed } = ctx.actor.principal;
    const now = ctx.now();
    const { expiresAt, issues } = validateExpiry(expires_at, now);
    issues.push(...scopeIssues(wanted ?? [], allowed));
    if (issues.length > 0) throw invalidInput(issues);
    const scopes = wanted ?? DEFAULT_SCOPES.filter((scope) => allowed.has(scope));
    let value: string | null = null;
    // Outside of what is recorded with the idempotency key: the value is stored nowhere.
    const key = await ctx.write(async (tx) => {
      const made = ctx.accounts.newKey({ name, owner, scopes, expiresAt: expiresAt ?? null });
      await tx.apiKeys.insert(made.record);
      await enforceKeyLimit(tx.apiKeys, owner, now);
      await tx.recordAudit(made.record.id);
      value = made.value;
      return serializeApiKey(await findApiKey(tx.apiKeys, made.record.id, (it) => it.owner === owner), now);
    });
    return { ...key, value };
  },
});

function scopeIssues(wanted: readonly Scope[], allowed: ReadonlySet<Scope>): Issue[] {
  const beyond = wanted.filter((scope) => !allowed.has(scope));
  if (beyond.length === 0) return [];
  return [
    {
      path: "scopes",
      code: "not_allowed",
      message: `must not hold ${beyond.join(", ")}, which your role does not give`,
      allowed: Scope.options.filter((scope) => allowed.has(scope)),
      fix: "Leave them out, or ask an admin for another role.",
    },
  ];
}
