import { z } from "zod";
import { UserIdRef } from "../../schemas/user.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { notifyOfFactor } from "../../src/core/factor-notices.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertBuiltInAccounts } from "./deliver-link.ts";
import { findUser } from "./find-user.ts";

export const resetUserFactors = defineTool({
  name: "reset_user_factors",
  title: "Reset a user's second factors",
  description:
    "Removes all second factors and recovery codes of a user who has lost them, and ends their sessions. They sign in with " +
    "the password, and set up a new one if their role requires it. The user gets a mail. Your own ones you change on your account page.",
  route: "POST /users/:user_id/reset-factors",
  surfaces: ["rest"],
  scope: "admin",
  requiresUser: true,
  instance: true,
  effect: "act",
  errors: ["user_not_found", "sign_on_elsewhere", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ user_id: UserIdRef, idempotency_key: IdempotencyKey.optional() }),
  output: z
    .strictObject({
      removed: z.int().meta({ description: "Number of second factors that were removed.", example: 1 }),
    })
    .meta({ id: "FactorsReset", description: "The second factors that were removed." }),
  async run({ user_id }, ctx) {
    assertBuiltInAccounts(
      ctx,
      "There are no second factors here: users sign in at the identity provider. Reset them there.",
    );
    const { owner, kind } = ctx.actor.principal;
    // A repeated request removes nothing, and sends no second mail.
    let isDone = false;
    const { email, removed } = await ctx.write(async (tx) => {
      const user = await findUser(tx.users, user_id);
      // A session must not get around the confirmation that changes of its own factors need.
      if (kind === "session" && user.email === owner) throw ownAccount();
      const count = await tx.factors.removeAll(user.id);
      if (count > 0) {
        isDone = true;
        await tx.sessions.endAllForUser(user.id);
        await tx.recordAudit(user.email, undefined, { details: { factors: count } });
      }
      return { email: user.email, removed: count };
    });
    if (isDone) {
      const event = { kind: "reset", by: owner } as const;
      const sending = notifyOfFactor(ctx.accounts, email, event, `${iso(ctx.now())}, ${owner}`);
      // A command ends when its work has ended.
      if (kind === "operator") await sending;
    }
    return { removed };
  },
});

const ownAccount = () =>
  invalidInput([
    {
      path: "user_id",
      code: "not_allowed",
      message: "is your own account",
      fix: "Change your second factors under Account → Two-factor authentication. If you have lost them, ask another admin or the operator.",
    },
  ]);
