import { z } from "zod";
import { NewEmail, UserRole, User } from "../../schemas/user.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import type { UserRecord } from "../../src/core/account-ports.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { newUserId } from "../../src/core/ids.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertRoleExists } from "./assert-role.ts";
import { Delivery, assertBuiltInAccounts, deliverLink, replaceLink } from "./deliver-link.ts";
import { serializeUser } from "./serialize-user.ts";

export const inviteUser = defineTool({
  name: "invite_user",
  title: "Invite a user",
  description:
    "Creates a user, who chooses a password through a link. The link is sent by mail; if that is not possible, the answer " +
    "contains it, for you to pass on.",
  route: "POST /users",
  surfaces: ["rest"],
  scope: "admin",
  requiresUser: true,
  instance: true,
  effect: "create",
  noStore: true,
  errors: ["email_taken", "sign_on_elsewhere", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ email: NewEmail, role: UserRole, idempotency_key: IdempotencyKey.optional() }),
  output: z.strictObject({ user: User, ...Delivery }),
  async run({ email, role }, ctx) {
    assertBuiltInAccounts(
      ctx,
      "Users can't be invited here: they sign in at the identity provider, and become users with their first sign-in. Give them access there.",
    );
    let token: string | null = null;
    const user = await ctx.write(async (tx) => {
      await assertRoleExists(tx.projects, role);
      const existing = await tx.users.findByEmail(email);
      if (existing !== undefined) throw emailTaken(existing);
      const invited: UserRecord = {
        id: newUserId(),
        email,
        role,
        status: "invited",
        passwordHash: null,
        roleSource: null,
        verifiedAt: null,
        createdAt: iso(ctx.now()),
        createdBy: ctx.actor.principal.owner,
        lastLoginAt: null,
      };
      await tx.users.insert(invited);
      token = await replaceLink(ctx, tx, "invitation", invited.id);
      await tx.recordAudit(email, `role_${role}`);
      return serializeUser(invited);
    });
    return { user, ...(await deliverLink(ctx, "invitation", user.email, token)) };
  },
});

const NEXT_ACTION = {
  active: "To change the role, use update_user",
  invited: "To send the invitation again, use renew_invitation",
  deactivated: "To reactivate the user, use update_user",
} as const;

const emailTaken = ({ id, email, status }: UserRecord): AppError =>
  new AppError("email_taken", `${email} is already a user (${id}, ${status}). ${NEXT_ACTION[status]}.`);
