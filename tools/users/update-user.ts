import { z } from "zod";
import { Role, User, UserIdRef, type UserStatus } from "../../schemas/user.ts";
import type { UserRecord, UserWriter } from "../../src/core/account-ports.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { findUser } from "./find-user.ts";
import { serializeUser } from "./serialize-user.ts";

export const updateUser = defineTool({
  name: "update_user",
  title: "Change a user",
  description:
    "Changes somebody's role, from their next request on, or takes the way in away and gives it back. Deactivating ends " +
    "their sessions and links at once, and their keys are dead meanwhile. Who never chose a password is invited again " +
    "when let back in; renew_invitation makes the link. The last active admin stays.",
  route: "PATCH /users/:user_id",
  surfaces: ["rest"],
  scope: "admin",
  requiresUser: true,
  effect: "update",
  errors: ["user_not_found", "user_not_active", "sign_on_elsewhere", "last_admin"],
  input: z.strictObject({
    user_id: UserIdRef,
    role: Role.optional(),
    status: z.enum(["active", "deactivated"]).optional().meta({
      description: "`deactivated` takes the way in away, `active` gives it back.",
      example: "active",
    }),
  }),
  output: User,
  async run({ user_id, role, status }, ctx) {
    return ctx.write(async (tx) => {
      const before = await findUser(tx.users, user_id);
      const after = { role: role ?? before.role, status: nextStatus(before, status) };
      if (after.role === before.role && after.status === before.status) return serializeUser(before);
      if (after.role !== before.role) expectDecidedHere(ctx, before);
      await keepAnAdmin(tx.users, before, after);
      const decided = after.role !== before.role && { roleSource: null };
      await tx.users.update(before.id, { ...after, ...decided });
      if (after.status === "deactivated") {
        await tx.sessions.endAllForUser(before.id);
        await tx.links.removeForUser(before.id, ["invitation", "reset", "verification"]);
      }
      if (after.role !== before.role) await tx.recordAudit(before.email, `role_${after.role}`);
      if (after.status !== before.status) await tx.recordAudit(before.email, `status_${after.status}`);
      return serializeUser({ ...before, ...after, ...decided });
    });
  },
});

function nextStatus(user: UserRecord, wanted: "active" | "deactivated" | undefined): UserStatus {
  if (wanted === undefined) return user.status;
  if (wanted === "deactivated") return "deactivated";
  if (user.status === "invited") {
    throw new AppError(
      "user_not_active",
      `${user.email} becomes active by taking the invitation up. Send it again with renew_invitation.`,
    );
  }
  // Nobody signed in yet: no password was chosen, and no provider has vouched for them.
  return user.passwordHash === null && user.lastLoginAt === null ? "invited" : "active";
}

/** What the provider's groups give, they would give again at the next request. */
function expectDecidedHere(
  { accounts }: Pick<ToolContext, "accounts">,
  { email, roleSource }: UserRecord,
): void {
  if (roleSource !== "sign_on" || accounts.authMode === "built-in") return;
  throw new AppError(
    "sign_on_elsewhere",
    `The role of ${email} follows from their groups at the identity provider (or from MILLRACE_ADMIN_EMAILS). Change it there.`,
  );
}

type Standing = Pick<UserRecord, "role" | "status">;
const isActiveAdmin = ({ role, status }: Standing): boolean => role === "admin" && status === "active";

/** In the transaction of the change: two admins who take each other away can't both succeed. */
async function keepAnAdmin(users: UserWriter, before: UserRecord, after: Standing): Promise<void> {
  if (!isActiveAdmin(before) || isActiveAdmin(after)) return;
  if ((await users.countActiveAdmins()) > 1) return;
  throw new AppError(
    "last_admin",
    `${before.email} is the last active admin. Make somebody else an admin first.`,
  );
}
