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
  description: "Makes a new link for somebody who was invited; the old one is dead from then on.",
  route: "POST /users/:user_id/invitation",
  surfaces: ["rest"],
  scope: "admin",
  requiresUser: true,
  effect: "act",
  noStore: true,
  errors: ["user_not_found", "user_not_invited", "sign_on_elsewhere", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ user_id: UserIdRef, idempotency_key: IdempotencyKey.optional() }),
  output: z.strictObject({ user: User, ...Delivery }),
  async run({ user_id }, ctx) {
    assertBuiltInAccounts(ctx, "There is no invitation to renew: they sign on at the identity provider.");
    let token: string | null = null;
    const user = await ctx.write(async (tx) => {
      const found = await findUser(tx.users, user_id);
      if (found.status !== "invited") {
        throw new AppError(
          "user_not_invited",
          found.status === "active"
            ? `${found.email} has taken the invitation up already. If they forgot the password, use reset_user_password.`
            : `${found.email} is deactivated. Let them in again first (update_user).`,
        );
      }
      token = await replaceLink(ctx, tx, "invitation", found.id);
      await tx.recordAudit(found.email);
      return serializeUser(found);
    });
    return { user, ...(await deliverLink(ctx, "invitation", user.email, token)) };
  },
});
