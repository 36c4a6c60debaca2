import { z } from "zod";
import { UserIdRef } from "../../schemas/user.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findUser } from "./find-user.ts";
import { Delivery, assertBuiltInAccounts, deliverLink, replaceLink } from "./deliver-link.ts";

export const resetUserPassword = defineTool({
  name: "reset_user_password",
  title: "Reset a user's password",
  description:
    "Creates a link through which a user chooses a new password; earlier links stop working. Using the link replaces the " +
    "password and ends the user's sessions.",
  route: "POST /users/:user_id/password-reset",
  surfaces: ["rest"],
  scope: "admin",
  requiresUser: true,
  instance: true,
  effect: "act",
  noStore: true,
  errors: ["user_not_found", "user_not_active", "sign_on_elsewhere", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ user_id: UserIdRef, idempotency_key: IdempotencyKey.optional() }),
  output: z.strictObject(Delivery),
  async run({ user_id }, ctx) {
    assertBuiltInAccounts(
      ctx,
      "There are no passwords here: users sign in at the identity provider. Reset the password there.",
    );
    let token: string | null = null;
    const email = await ctx.write(async (tx) => {
      const user = await findUser(tx.users, user_id);
      if (user.status !== "active") {
        throw new AppError(
          "user_not_active",
          user.status === "invited"
            ? `${user.email} has no password yet. Renew the invitation instead (renew_invitation).`
            : `${user.email} is deactivated. Reactivate the user first (update_user).`,
        );
      }
      token = await replaceLink(ctx, tx, "reset", user.id);
      await tx.recordAudit(user.email);
      return user.email;
    });
    return deliverLink(ctx, "reset", email, token);
  },
});
