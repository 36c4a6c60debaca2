import { z } from "zod";
import { SessionsEnded } from "../../schemas/user.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";

export const endOtherSessions = defineTool({
  name: "end_other_sessions",
  title: "End your other sessions",
  description: "Signs you out of every other browser immediately.",
  route: "POST /sessions/end-others",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "act",
  errors: ["idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ idempotency_key: IdempotencyKey.optional() }),
  output: SessionsEnded,
  async run(_input, ctx) {
    const { keyId, lineage: userId, owner } = ctx.actor.principal;
    return ctx.write(async (tx) => {
      const ended = await tx.sessions.endAllForUser(userId, keyId);
      if (ended > 0) await tx.recordAudit(owner);
      return { ended };
    });
  },
});
