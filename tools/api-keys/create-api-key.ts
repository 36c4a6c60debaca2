import { z } from "zod";
import { DEFAULT_SCOPES, Scope } from "../../schemas/actor.ts";
import { ApiKeyName, KeyLimits, KeyProjects, NewApiKey } from "../../schemas/api-key.ts";
import type { Issue } from "../../schemas/problem.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { SCOPES_WITHIN_WORKFLOWS } from "../../src/core/access.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { Expiry, validateExpiry } from "./expiry.ts";
import { findApiKey } from "./find-api-key.ts";
import { enforceKeyLimit } from "./enforce-key-limit.ts";
import { grantableScopes, keyProjects, limitIssues } from "./key-area.ts";
import { serializeApiKey } from "./serialize-api-key.ts";

export const createApiKey = defineTool({
  name: "create_api_key",
  title: "Create an API key",
  description:
    "Creates an API key that acts for you. Its value is only in this answer; it is not stored. " +
    "The key may do what its scopes and your role both allow.",
  route: "POST /api-keys",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "create",
  noStore: true,
  errors: ["too_many_keys", "upgrade_unfinished", "idempotency_key_reused"],
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
          "What the key may do; read is always included. Default: read, write, publish and run, as far as your role allows them.",
        example: ["read", "run"],
      }),
    projects: KeyProjects.optional().meta({
      description:
        "The ids of its projects, of those that you have a role in. Default: your only one, else the default one.",
    }),
    limits: KeyLimits.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: NewApiKey,
  async run({ name, expires_at, scopes: requested, projects: requestedProjects, limits }, ctx) {
    const { owner, access } = ctx.actor.principal;
    const now = ctx.now();
    const { expiresAt, issues } = validateExpiry(expires_at, now);
    const { projects, issues: projectIssues } = await keyProjects(ctx, requestedProjects);
    issues.push(...projectIssues);
    const allowed = grantableScopes(access, projects);
    const isLimited = limits?.workflows !== undefined;
    if (projectIssues.length === 0) issues.push(...scopeIssues(requested ?? [], allowed, isLimited));
    const scopes =
      requested ??
      DEFAULT_SCOPES.filter(
        (scope) => allowed.has(scope) && (!isLimited || SCOPES_WITHIN_WORKFLOWS.includes(scope)),
      );
    if (limits !== undefined) issues.push(...(await limitIssues(ctx, limits, { projects, scopes })));
    if (issues.length > 0) throw invalidInput(issues);
    let value: string | null = null;
    // The value is set outside of the recorded result, because it must not be stored.
    const key = await ctx.write(async (tx) => {
      const created = ctx.accounts.newKey({
        name,
        owner,
        scopes,
        projects,
        limits: limits === undefined || Object.keys(limits).length === 0 ? null : limits,
        expiresAt: expiresAt ?? null,
      });
      await tx.apiKeys.insert(created.record);
      await enforceKeyLimit(tx.apiKeys, owner, now);
      await tx.recordAudit(created.record.id);
      value = created.value;
      return serializeApiKey(
        await findApiKey(tx.apiKeys, created.record.id, (apiKey) => apiKey.owner === owner),
        now,
      );
    });
    return { ...key, value };
  },
});

/** @param isLimited whether the key is limited to workflows */
function scopeIssues(requested: readonly Scope[], allowed: ReadonlySet<Scope>, isLimited: boolean): Issue[] {
  const unlimited = isLimited ? requested.filter((scope) => !SCOPES_WITHIN_WORKFLOWS.includes(scope)) : [];
  if (unlimited.length > 0)
    return [
      {
        path: "scopes",
        code: "not_allowed",
        message: `must not contain ${unlimited.join(", ")}: a key that is limited to workflows sees and runs these only`,
        allowed: [...SCOPES_WITHIN_WORKFLOWS],
        fix: "Leave these scopes out, or limits.workflows.",
      },
    ];
  const refused = requested.filter((scope) => !allowed.has(scope));
  if (refused.length === 0) return [];
  return [
    {
      path: "scopes",
      code: "not_allowed",
      message: `must not contain ${refused.join(", ")}, which your role does not grant`,
      allowed: Scope.options.filter((scope) => allowed.has(scope)),
      fix: "Leave these out, or ask an admin for another role.",
    },
  ];
}
