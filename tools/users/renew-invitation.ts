import { z } from "zod";
import { User, UserIdRef } from "../../schemas/user.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findUser } from "./find-user.ts";
import { Delivery, assertBuiltInAccounts, deliverLink, replaceLink } from "./deliver-link.ts";
import { serializeUser } from "./serialize-user.ts";

export const renewInvitation = defineTool({
  name: "renew_invitation",
  title: "Renew an invitation",
  description: "Creates a new link for an invited user; the old one stops working.",
  route: "POST /users/:user_id/invitation",
  surfaces: ["rest"],
  scope: "admin",
  requiresUser: true,
  instance: true,
  effect: "act",
  noStore: true,
  errors: ["user_not_found", "user_not_invited", "sign_on_elsewhere", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ user_id: UserIdRef, idempotency_key: IdempotencyKey.optional() }),
  output: z.strictObject({ user: User, ...Delivery }),
  async run({ user_id }, ctx) {
    assertBuiltInAccounts(
      ctx,
      "There are no invitations here: users sign in at the identity provider. Give them access there.",
    );
    let token: string | null = null;
    const user = await ctx.write(async (tx) => {
      const found = await findUser(tx.users, user_id);
      if (found.status !== "invited") {
        throw new AppError(
          "user_not_invited",
          found.status === "active"
            ? `${found.email} has already accepted the invitation. If the password is forgotten, use reset_user_password.`
            : `${found.email} is deactivated. Reactivate the user first (update_user).`,
        );
      }
      token = await replaceLink(ctx, tx, "invitation", found.id);
      await tx.recordAudit(found.email);
      return serializeUser(found);
    });
    return { user, ...(await deliverLink(ctx, "invitation", user.email, token)) };
  },
});
