import { z } from "zod";
import { DEFAULT_SCOPES, Scope } from "../../schemas/actor.ts";
import { ApiKeyName, NewApiKey } from "../../schemas/api-key.ts";
import type { Fault } from "../../schemas/problem.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { invalidInput } from "../../src/core/faults.ts";
import { defineTool } from "../../src/core/tool.ts";
import { Expiry, readExpiry } from "./expiry.ts";
import { findApiKey } from "./find-api-key.ts";
import { keepFew } from "./keep-few.ts";
import { showApiKey } from "./show-api-key.ts";

export const createApiKey = defineTool({
  name: "create_api_key",
  title: "Create an API key",
  description:
    "Makes a key that acts for you. Its value is in the answer this one time and stored nowhere. " +
    "It may do what its scopes and your role both allow.",
  route: "POST /api-keys",
  surfaces: ["rest"],
  scope: "read",
  person: true,
  effect: "create",
  secret: true,
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
    const { expiresAt, faults } = readExpiry(expires_at, now);
    faults.push(...scopeFaults(wanted ?? [], allowed));
    if (faults.length > 0) throw invalidInput(faults);
    const scopes = wanted ?? DEFAULT_SCOPES.filter((scope) => allowed.has(scope));
    let value: string | null = null;
    // Outside of what is recorded with the idempotency key: the value is stored nowhere.
    const key = await ctx.write(async (tx) => {
      const made = ctx.accounts.newKey({ name, owner, scopes, expiresAt: expiresAt ?? null });
      await tx.apiKeys.insert(made.record);
      await keepFew(tx.apiKeys, owner, now);
      await tx.audited(made.record.id);
      value = made.value;
      return showApiKey(await findApiKey(tx.apiKeys, made.record.id, (it) => it.owner === owner), now);
    });
    return { ...key, value };
  },
});

function scopeFaults(wanted: readonly Scope[], allowed: ReadonlySet<Scope>): Fault[] {
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
