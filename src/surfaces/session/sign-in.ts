/** Signing in and out, who one is, and changing one's password. */
import { z } from "zod";
import { Email, Password, SessionInfo, SignInOptions } from "../../../schemas/user.ts";
import type { CountedAttempt } from "../../auth/throttle.ts";
import type { UserRecord } from "../../core/account-ports.ts";
import { iso } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Writers } from "../../core/ports.ts";
import { defineEndpoint, type SessionContext } from "./endpoint.ts";

export const getSession = defineEndpoint({
  name: "get_session",
  title: "Who is signed in",
  description: "Tells who is signed in with this browser, and what that person may do.",
  method: "GET",
  path: "/session",
  requiresSession: true,
  errors: [],
  input: z.strictObject({}),
  status: 200,
  output: SessionInfo,
  run: async (_, ctx) => ctx.toSessionInfo(ctx.current!),
});

export const signInOptions = defineEndpoint({
  name: "sign_in_options",
  title: "How to sign in",
  description:
    "Tells what the first page must ask for: the first admin, an address and a password, or a way to the identity provider.",
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
    "Begins a session with an e-mail address and a password. After a few wrong ones it takes a while.",
  method: "POST",
  path: "/session",
  requiresSession: false,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "sign_in_failed", "too_many_attempts"],
  input: z.strictObject({ email: Email, password: Password }),
  status: 200,
  output: SessionInfo,
  async run({ email, password }, ctx) {
    const { services, signIn: door } = ctx;
    // Before any hashing: guesses must cost us nothing.
    door.passwords.assertCapacity();
    const attempt = await door.throttle.consume("sign_in", { account: email, address: ctx.address });
    const user = await services.read.users.findByEmail(email);
    const { ok, stale } = await verified(ctx, attempt, password, user?.passwordHash ?? null);
    if (user === undefined || !ok || user.status !== "active")
      throw signInFailed(services.accounts.mailEnabled);
    await attempt.markSucceeded();
    // Another time, when this is a busy one.
    const rehashed = stale ? await door.passwords.hash(password).catch(() => undefined) : undefined;
    const begun = await ctx.write(user, async (tx) => {
      const fresh = await unchanged(tx, user);
      await tx.users.update(user.id, {
        ...(rehashed !== undefined && { passwordHash: rehashed }),
        lastLoginAt: iso(services.clock.now()),
      });
      await tx.recordAudit(user.email);
      return ctx.createSession(tx, fresh);
    });
    return ctx.sendSessionCookie(begun);
  },
});

export const signOut = defineEndpoint({
  name: "sign_out",
  title: "Sign out",
  description: "Ends this browser's session. Without one it does nothing.",
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
  title: "Change one's password",
  description: "Needs the present one. Every other session of the account ends.",
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
    if (!(await verified(ctx, attempt, current_password, user.passwordHash)).ok)
      throw new AppError("sign_in_failed", "The present password is not right. Nothing was changed.");
    await attempt.markSucceeded();
    await passwords.validate(password, user.email);
    const passwordHash = await passwords.hash(password);
    await ctx.write(user, async (tx) => {
      await unchanged(tx, user);
      // Ended meanwhile (a reset, an admin): then it changes nothing any more.
      if ((await tx.sessions.find(session.id)) === undefined) throw changedMeanwhile();
      await tx.users.update(user.id, { passwordHash });
      await tx.sessions.endAllForUser(user.id, session.id);
      await tx.links.removeForUser(user.id, ["reset"]);
      await tx.recordAudit(user.email);
    });
  },
});

/** Whether it is the password; where we were too busy to look, the attempt was none. */
async function verified(ctx: SessionContext, attempt: CountedAttempt, password: string, hash: string | null) {
  try {
    return await ctx.signIn.passwords.verify(password, hash);
  } catch (error) {
    await attempt.refund();
    throw error;
  }
}

/**
 * The user as of now, if what the password was compared with still stands: hashing takes long, and a reset or an admin
 * may have been quicker.
 * @throws AppError busy
 */
async function unchanged(tx: Pick<Writers, "users">, before: UserRecord): Promise<UserRecord> {
  const fresh = await tx.users.find(before.id);
  if (fresh?.status !== "active" || fresh.passwordHash !== before.passwordHash) throw changedMeanwhile();
  return fresh;
}

const changedMeanwhile = (): AppError =>
  new AppError("busy", "The account was changed at the same moment. Nothing was done; try again.", {
    headers: { "Retry-After": "1" },
  });

const signInFailed = (mail: boolean): AppError =>
  new AppError(
    "sign_in_failed",
    `The e-mail address or the password is not right. ${mail ? "If you have forgotten it, ask for a link to choose a new one." : "If you have forgotten it, ask an admin for a link to choose a new one."}`,
  );
