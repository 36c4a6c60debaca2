import { z } from "zod";
import { Email, McpCheck, Password, SessionInfo, SignInOptions } from "../../../schemas/user.ts";
import type { CountedAttempt } from "../../auth/throttle.ts";
import type { UserRecord } from "../../core/account-ports.ts";
import { iso } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Writers } from "../../core/ports.ts";
import { defineEndpoint, type SessionContext } from "./endpoint.ts";

export const getSession = defineEndpoint({
  name: "get_session",
  title: "Get the session",
  description: "Returns the signed-in user of this browser, with their scopes.",
  method: "GET",
  path: "/session",
  requiresSession: true,
  errors: [],
  input: z.strictObject({}),
  status: 200,
  output: SessionInfo,
  run: async (_, ctx) => ctx.toSessionInfo(ctx.current!),
});

export const checkMcpUrl = defineEndpoint({
  name: "check_mcp_url",
  title: "Check the MCP URL",
  description:
    "Asks for the paths of the MCP server at its configured URL, as clients do, from the machine of the server.",
  method: "GET",
  path: "/session/mcp-check",
  requiresSession: true,
  errors: [],
  input: z.strictObject({}),
  status: 200,
  output: McpCheck,
  async run(_, { signIn }) {
    const { status, detail, fix = null } = await signIn.checkMcpUrl();
    return { status, detail, fix };
  },
});

export const signInOptions = defineEndpoint({
  name: "sign_in_options",
  title: "Get how to sign in",
  description:
    "Returns whether to create the first admin, to sign in with a password, or to sign in at the identity provider.",
  method: "GET",
  path: "/session/options",
  requiresSession: false,
  errors: [],
  input: z.strictObject({}),
  status: 200,
  output: SignInOptions,
  run: async (_, { services, signIn: { mode } }) => ({
    mode,
    setup: mode === "built-in" && !(await services.read.users.exists()),
    mail: mode === "built-in" && services.accounts.mailEnabled,
  }),
});

export const signIn = defineEndpoint({
  name: "sign_in",
  title: "Sign in",
  description:
    "Starts a session with an e-mail address and a password. After several wrong attempts further ones are refused for a while.",
  method: "POST",
  path: "/session",
  requiresSession: false,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "sign_in_failed", "too_many_attempts"],
  input: z.strictObject({ email: Email, password: Password }),
  status: 200,
  output: SessionInfo,
  async run({ email, password }, ctx) {
    const { services } = ctx;
    const { passwords, throttle } = ctx.signIn;
    // Before any hashing, so that wrong guesses cost little.
    passwords.assertCapacity();
    const attempt = await throttle.consume("sign_in", { account: email, address: ctx.address });
    const user = await services.read.users.findByEmail(email);
    const { ok, stale } = await verifyPassword(ctx, attempt, password, user?.passwordHash ?? null);
    if (user === undefined || !ok || user.status !== "active")
      throw signInFailed(services.accounts.mailEnabled);
    await attempt.markSucceeded();
    // When hashing is at capacity, the next sign-in rehashes the password.
    const rehashed = stale ? await passwords.hash(password).catch(() => undefined) : undefined;
    const started = await ctx.write(user, async (tx) => {
      const current = await assertUnchanged(tx, user);
      await tx.users.update(user.id, {
        ...(rehashed !== undefined && { passwordHash: rehashed }),
        lastLoginAt: iso(services.clock.now()),
      });
      await tx.recordAudit(user.email);
      return ctx.createSession(tx, current);
    });
    return ctx.sendSessionCookie(started);
  },
});

export const signOut = defineEndpoint({
  name: "sign_out",
  title: "Sign out",
  description: "Ends the session of this browser, if it has one.",
  method: "DELETE",
  path: "/session",
  requiresSession: false,
  errors: [],
  input: z.strictObject({}),
  status: 204,
  output: null,
  async run(_, ctx) {
    const { current } = ctx;
    if (current !== undefined) {
      await ctx.write(current.user, async (tx) => {
        await tx.sessions.end(current.session.id);
        await tx.recordAudit(current.user.email);
      });
    }
    ctx.clearSessionCookie();
  },
});

export const changePassword = defineEndpoint({
  name: "change_password",
  title: "Change your password",
  description: "Needs the current password. Ends all other sessions of the user.",
  method: "POST",
  path: "/session/change-password",
  requiresSession: true,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "sign_in_failed", "too_many_attempts"],
  input: z.strictObject({ current_password: Password, password: Password }),
  status: 204,
  output: null,
  async run({ current_password, password }, ctx) {
    const { user, session } = ctx.current!;
    const { throttle, passwords } = ctx.signIn;
    passwords.assertCapacity();
    const attempt = await throttle.consume("sign_in", { account: user.email, address: ctx.address });
    if (!(await verifyPassword(ctx, attempt, current_password, user.passwordHash)).ok)
      throw new AppError("sign_in_failed", "The current password is wrong. Nothing was changed.");
    await attempt.markSucceeded();
    await passwords.validate(password, user.email);
    const passwordHash = await passwords.hash(password);
    await ctx.write(user, async (tx) => {
      await assertUnchanged(tx, user);
      // A session that has ended meanwhile (a reset, an admin) must change nothing.
      if ((await tx.sessions.find(session.id)) === undefined) throw changedMeanwhile();
      await tx.users.update(user.id, { passwordHash });
      await tx.sessions.endAllForUser(user.id, session.id);
      await tx.links.removeForUser(user.id, ["reset"]);
      await tx.recordAudit(user.email);
    });
  },
});

/** Compares a password with a hash. If that is not possible now, the attempt is not counted. */
async function verifyPassword(
  ctx: SessionContext,
  attempt: CountedAttempt,
  password: string,
  hash: string | null,
) {
  try {
    return await ctx.signIn.passwords.verify(password, hash);
  } catch (error) {
    await attempt.refund();
    throw error;
  }
}

/**
 * Reads the user again. Hashing takes time, so the password or the status may have changed since it was compared.
 * @throws AppError busy when it has
 */
async function assertUnchanged(tx: Pick<Writers, "users">, user: UserRecord): Promise<UserRecord> {
  const current = await tx.users.find(user.id);
  if (current?.status !== "active" || current.passwordHash !== user.passwordHash) throw changedMeanwhile();
  return current;
}

const changedMeanwhile = (): AppError =>
  new AppError("busy", "The account was changed at the same time. Nothing was done; try again.", {
    headers: { "Retry-After": "1" },
  });

const signInFailed = (mail: boolean): AppError =>
  new AppError(
    "sign_in_failed",
    `The e-mail address or the password is wrong. ${mail ? "If you have forgotten the password, request a link to choose a new one." : "If you have forgotten the password, ask an admin for a link to choose a new one."}`,
  );
