import { z } from "zod";
import { UserRole, User, UserIdRef, type UserStatus } from "../../schemas/user.ts";
import type { UserRecord, UserWriter } from "../../src/core/account-ports.ts";
import { beforeAndAfter } from "../../src/core/audit-change.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { assertRoleExists } from "./assert-role.ts";
import { findUser } from "./find-user.ts";
import { serializeUser } from "./serialize-user.ts";

export const updateUser = defineTool({
  name: "update_user",
  title: "Update a user",
  description:
    "Changes a user's role, or deactivates or reactivates the user; both apply from the next request on. Deactivating ends " +
    "the user's sessions and links, and their API keys are refused meanwhile. A reactivated user without a password is " +
    "invited again; renew_invitation creates the link. The last active admin can't be deactivated or lose the role.",
  route: "PATCH /users/:user_id",
  surfaces: ["rest"],
  scope: "admin",
  requiresUser: true,
  instance: true,
  effect: "update",
  errors: ["user_not_found", "user_not_active", "sign_on_elsewhere", "last_admin"],
  input: z.strictObject({
    user_id: UserIdRef,
    role: UserRole.optional(),
    status: z.enum(["active", "deactivated"]).optional().meta({
      description: "`deactivated` deactivates the user, `active` reactivates.",
      example: "active",
    }),
  }),
  output: User,
  async run({ user_id, role, status }, ctx) {
    return ctx.write(async (tx) => {
      const before = await findUser(tx.users, user_id);
      const after = { role: role ?? before.role, status: nextStatus(before, status) };
      if (after.role === before.role && after.status === before.status) return serializeUser(before);
      if (after.role !== before.role) {
        assertRoleSetHere(ctx, before);
        await assertRoleExists(tx.projects, after.role);
      }
      await assertAdminRemains(tx.users, before, after);
      const roleSource = after.role !== before.role && { roleSource: null };
      await tx.users.update(before.id, { ...after, ...roleSource });
      if (after.status === "deactivated") {
        await tx.sessions.endAllForUser(before.id);
        await tx.links.removeForUser(before.id, ["invitation", "reset", "verification"]);
      }
      if (after.role !== before.role)
        await tx.recordAudit(before.email, `role_${after.role}`, {
          details: beforeAndAfter({ role: before.role }, { role: after.role }),
        });
      if (after.status !== before.status)
        await tx.recordAudit(before.email, `status_${after.status}`, {
          details: beforeAndAfter({ status: before.status }, { status: after.status }),
        });
      return serializeUser({ ...before, ...after, ...roleSource });
    });
  },
});

function nextStatus(user: UserRecord, requested: "active" | "deactivated" | undefined): UserStatus {
  if (requested === undefined) return user.status;
  if (requested === "deactivated") return "deactivated";
  if (user.status === "invited") {
    throw new AppError(
      "user_not_active",
      `${user.email} becomes active by accepting the invitation. Send it again with renew_invitation.`,
    );
  }
  // A user who never signed in has neither a password nor an identity at a provider.
  return user.passwordHash === null && user.lastLoginAt === null ? "invited" : "active";
}

/** A role from the provider's groups can't be changed here: the next request would set it again. */
function assertRoleSetHere(
  { accounts }: Pick<ToolContext, "accounts">,
  { email, roleSource }: UserRecord,
): void {
  if (roleSource !== "sign_on" || accounts.authMode === "built-in") return;
  throw new AppError(
    "sign_on_elsewhere",
    `The role of ${email} is set by groups at the identity provider or by MILLRACE_ADMIN_EMAILS. Change it there.`,
  );
}

type Access = Pick<UserRecord, "role" | "status">;
const isActiveAdmin = ({ role, status }: Access): boolean => role === "admin" && status === "active";

/** Called in the transaction of the change, so that of two admins who deactivate each other only one succeeds. */
async function assertAdminRemains(users: UserWriter, before: UserRecord, after: Access): Promise<void> {
  if (!isActiveAdmin(before) || isActiveAdmin(after)) return;
  if ((await users.countActiveAdmins()) > 1) return;
  throw new AppError(
    "last_admin",
    `${before.email} is the last active admin. Make another user an admin first.`,
  );
}
