import { z } from "zod";
import { SessionIdRef, SessionsEnded } from "../../schemas/user.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";

export const endSession = defineTool({
  name: "end_session",
  title: "End one of your sessions",
  description: "Signs you out of one browser immediately.",
  route: "POST /sessions/:session_id/end",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "act",
  errors: ["session_not_found", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ session_id: SessionIdRef, idempotency_key: IdempotencyKey.optional() }),
  output: SessionsEnded,
  async run({ session_id }, ctx) {
    const { lineage: userId } = ctx.actor.principal;
    return ctx.write(async (tx) => {
      const session = await tx.sessions.find(session_id);
      // Another user's session is reported as missing, so that callers can't probe for ids.
      if (session?.userId !== userId || !(await tx.sessions.end(session.id))) {
        throw new AppError(
          "session_not_found",
          `You have no session "${session_id.slice(0, 100)}"; it may have ended. list_sessions (GET /sessions) shows yours.`,
        );
      }
      await tx.recordAudit(session.id);
      return { ended: 1 };
    });
  },
});
