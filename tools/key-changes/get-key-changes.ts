import { z } from "zod";
import { ApiKeyIdRef } from "../../schemas/api-key.ts";
import { KeyChanges, KeyChangesClient, KeyChangesSince } from "../../schemas/key-changes.ts";
import { defineTool } from "../../src/core/tool.ts";
import { checkReverts } from "./check-reverts.ts";
import { readKeyChanges } from "./read-key-changes.ts";
import { plannedResults, serializeKeyChanges } from "./serialize-key-changes.ts";

export const getKeyChanges = defineTool({
  name: "get_key_changes",
  title: "Get what an API key changed",
  description:
    "Returns all that an API key, with the keys that it was rotated to or from, did since a moment: what " +
    "revert_key_changes would revert, after the same checks, and what stays in force. Also for revoked and expired keys.",
  route: "GET /api-keys/:key_id/changes",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "read",
  openWorld: true,
  errors: ["api_key_not_found"],
  input: z.strictObject({
    key_id: ApiKeyIdRef,
    since: KeyChangesSince,
    client: KeyChangesClient.optional(),
    include_later: z.boolean().default(false).meta({
      description: "Whether to plan to take the changes out also where others changed a workflow afterwards.",
    }),
  }),
  output: KeyChanges,
  async run({ include_later, ...query }, ctx) {
    const found = await readKeyChanges(ctx, { ...query, includeLater: include_later });
    const checked = await checkReverts(ctx, found.changed, []);
    return serializeKeyChanges(found, plannedResults(found, checked), ctx.now());
  },
});
