/** Signing in and out, the first visit, and the links that mails carry. */
import { z } from "zod";
import { Email, LinkKind, Password, SessionInfo, SignInOptions } from "../../../schemas/user.ts";
import { text, timestamp } from "../../../schemas/text.ts";
import { digestOf } from "../../auth/key-format.ts";
import type { Taken } from "../../auth/throttle.ts";
import type { LinkRecord, UserRecord } from "../../core/account-ports.ts";
import { iso } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newUserId } from "../../core/ids.ts";
import type { Writers } from "../../core/ports.ts";
import { defineEndpoint, type SessionContext, type SessionEndpoint } from "./endpoint.ts";

const Token = text(200, 1).meta({
  description: "What stands behind the # of a link.",
  example: "0aZr4mXw1kq0Zr4mXw5pXq0aZr4mXw1k",
});

const getSession = defineEndpoint({
  name: "get_session",
  title: "Who is signed in",
  description: "Tells who is signed in with this browser, and what that person may do.",
  method: "GET",
  path: "/session",
  signedIn: true,
  errors: [],
  input: z.strictObject({}),
  status: 200,
  output: SessionInfo,
  run: async (_, ctx) => ctx.info(ctx.current!),
});

const signInOptions = defineEndpoint({
  name: "sign_in_options",
  title: "How to sign in",
  description: "Tells what the first page must ask for: the first admin, or an address and a password.",
  method: "GET",
  path: "/session/options",
  signedIn: false,
  errors: [],
  input: z.strictObject({}),
  status: 200,
  output: SignInOptions,
  run: async (_, { services }) => ({
    mode: "built-in" as const,
    setup: !(await services.read.users.any()),
    mail: services.accounts.mail,
  }),
});

const signIn = defineEndpoint({
  name: "sign_in",
  title: "Sign in",
  description:
    "Begins a session with an e-mail address and a password. After a few wrong ones it takes a while.",
  method: "POST",
  path: "/session",
  signedIn: false,
  errors: ["sign_in_failed", "too_many_attempts"],
  input: z.strictObject({ email: Email, password: Password }),
  status: 200,
  output: SessionInfo,
  async run({ email, password }, ctx) {
    const { services, signIn: door } = ctx;
    // Before any hashing: guesses must cost us nothing.
    door.passwords.room();
    const attempt = await door.throttle.take("sign_in", { account: email, address: ctx.address });
    const user = await services.read.users.findByEmail(email);
    const { ok, stale } = await verified(ctx, attempt, password, user?.passwordHash ?? null);
    if (user === undefined || !ok || user.status !== "active") throw signInFailed(services.accounts.mail);
    await attempt.succeeded();
    // Another time, when this is a busy one.
    const rehashed = stale ? await door.passwords.hash(password).catch(() => undefined) : undefined;
    const begun = await ctx.write(user, async (tx) => {
      const fresh = await unchanged(tx, user);
      await tx.users.update(user.id, {
        ...(rehashed !== undefined && { passwordHash: rehashed }),
        lastLoginAt: iso(services.clock.now()),
      });
      await tx.audited(user.email);
      return ctx.begin(tx, fresh);
    });
    return ctx.welcome(begun);
  },
});

const signOut = defineEndpoint({
  name: "sign_out",
  title: "Sign out",
  description: "Ends this browser's session. Without one it does nothing.",
  method: "DELETE",
  path: "/session",
  signedIn: false,
  errors: [],
  input: z.strictObject({}),
  status: 204,
  output: null,
  async run(_, ctx) {
    const { current } = ctx;
    if (current !== undefined) {
      await ctx.write(current.user, async (tx) => {
        await tx.sessions.end(current.session.id);
        await tx.audited(current.user.email);
      });
    }
    ctx.farewell();
  },
});

const setUp = defineEndpoint({
  name: "set_up",
  title: "Make the first admin",
  description:
    "The first visit: makes the admin account, with the one-time token that `serve` and `start` print.",
  method: "POST",
  path: "/session/setup",
  signedIn: false,
  errors: ["setup_done", "link_dead", "too_many_attempts"],
  input: z.strictObject({ token: Token, email: Email, password: Password }),
  status: 201,
  output: SessionInfo,
  async run({ token, email, password }, ctx) {
    const { services, signIn: door } = ctx;
    await door.throttle.take("setup", { address: ctx.address });
    if (await services.read.users.any()) throw setupDone();
    // A wrong token must cost neither a hash nor a look into the dictionaries.
    await openLink(ctx, token, ["setup"]);
    await door.passwords.check(password, email);
    const now = iso(services.clock.now());
    const user: UserRecord = {
      id: newUserId(),
      email,
      role: "admin",
      status: "active",
      passwordHash: null,
      verifiedAt: null,
      createdAt: now,
      createdBy: email,
      lastLoginAt: now,
    };
    const passwordHash = await door.passwords.hash(password);
    const verification = services.accounts.newLink("verification", user.id);
    const begun = await ctx.write(user, async (tx) => {
      await liveLink(ctx, tx.links.find(digestOf(token)), ["setup"]);
      await tx.users.insertFirst({ ...user, passwordHash });
      await tx.links.removeOf(null, ["setup"]);
      if (services.accounts.mail) await tx.links.insert(verification.record);
      await tx.audited(email);
      return ctx.begin(tx, user);
    });
    if (services.accounts.mail) post(ctx, email, verification.token);
    return ctx.welcome(begun);
  },
});

const lookAtLink = defineEndpoint({
  name: "look_at_link",
  title: "What a link is for",
  description: "Tells what a link is for and whose it is. It is not used up.",
  method: "POST",
  path: "/session/link",
  signedIn: false,
  errors: ["link_dead", "too_many_attempts"],
  input: z.strictObject({ token: Token }),
  status: 200,
  output: z
    .strictObject({
      kind: LinkKind,
      email: z.string().nullable().meta({ description: "Whose it is.", example: "ada@example.com" }),
      expires_at: timestamp.nullable(),
    })
    .meta({ id: "AccountLink", description: "A link out of a mail." }),
  async run({ token }, ctx) {
    await ctx.signIn.throttle.take("link", { address: ctx.address });
    const { link, user } = await openLink(ctx, token, ["setup", "invitation", "reset", "verification"]);
    return { kind: link.kind, email: user?.email ?? null, expires_at: link.expiresAt };
  },
});

const choosePassword = defineEndpoint({
  name: "choose_password",
  title: "Choose a password with a link",
  description:
    "Takes an invitation up, or replaces a forgotten password; either ends every session the account had.",
  method: "POST",
  path: "/session/password",
  signedIn: false,
  errors: ["link_dead", "too_many_attempts"],
  input: z.strictObject({ token: Token, password: Password }),
  status: 200,
  output: SessionInfo,
  async run({ token, password }, ctx) {
    const { services, signIn: door } = ctx;
    await door.throttle.take("link", { address: ctx.address });
    const kinds = ["invitation", "reset"] as const;
    const { user } = await openLink(ctx, token, kinds);
    await door.passwords.check(password, user!.email);
    const passwordHash = await door.passwords.hash(password);
    const begun = await ctx.write(user!, async (tx) => {
      // Another may have used it while this one was hashing.
      await liveLink(ctx, tx.links.find(digestOf(token)), kinds);
      const now = iso(services.clock.now());
      const fresh = (await tx.users.find(user!.id))!;
      if (fresh.status === "deactivated") throw linkDead();
      await tx.links.take(digestOf(token));
      await tx.links.removeOf(fresh.id, kinds);
      await tx.users.update(fresh.id, {
        passwordHash,
        status: "active",
        lastLoginAt: now,
        // Where mail is sent, the link came out of one.
        verifiedAt: fresh.verifiedAt ?? (services.accounts.mail ? now : null),
      });
      await tx.sessions.endAllOf(fresh.id);
      await tx.audited(fresh.email);
      return ctx.begin(tx, (await tx.users.find(fresh.id))!);
    });
    await door.throttle.forgive("sign_in", { account: user!.email, address: ctx.address });
    return ctx.welcome(begun);
  },
});

const forgotPassword = defineEndpoint({
  name: "forgot_password",
  title: "Ask for a link to choose a new password",
  description: "Sends a link to the address if it is somebody's; the answer is the same either way.",
  method: "POST",
  path: "/session/password-reset",
  signedIn: false,
  errors: ["too_many_attempts"],
  input: z.strictObject({ email: Email }),
  status: 202,
  output: null,
  async run({ email }, ctx) {
    await ctx.signIn.throttle.take("reset", { account: email, address: ctx.address });
    // At some moment later: what it does to the next request's time would tell whether the account exists.
    setTimeout(
      () =>
        void sendReset(ctx, email).catch((err: unknown) => ctx.services.log.warn({ err }, "reset not sent")),
      Math.random() * ctx.signIn.resetDelayMs,
    );
  },
});

async function sendReset(ctx: SessionContext, email: string): Promise<void> {
  const { read, accounts } = ctx.services;
  const user = await read.users.findByEmail(email);
  if (user === undefined || user.status !== "active" || !accounts.mail) return;
  const { token, record } = accounts.newLink("reset", user.id);
  const made = await ctx.write(
    user,
    async (tx) => {
      if ((await tx.users.find(user.id))?.status !== "active") return false;
      await tx.links.removeOf(user.id, ["reset"]);
      await tx.links.insert(record);
      await tx.audited(email);
      return true;
    },
    ANYBODY,
  );
  if (made) await accounts.deliver("reset", email, token, SOMEBODY);
}

const verify = defineEndpoint({
  name: "verify_email",
  title: "Confirm an e-mail address",
  description: "Confirms the address that the link was sent to.",
  method: "POST",
  path: "/session/verification",
  signedIn: false,
  errors: ["link_dead", "too_many_attempts"],
  input: z.strictObject({ token: Token }),
  status: 204,
  output: null,
  async run({ token }, ctx) {
    await ctx.signIn.throttle.take("link", { address: ctx.address });
    const { user } = await openLink(ctx, token, ["verification"]);
    await ctx.write(user!, async (tx) => {
      await liveLink(ctx, tx.links.find(digestOf(token)), ["verification"]);
      await tx.links.removeOf(user!.id, ["verification"]);
      await tx.users.update(user!.id, { verifiedAt: iso(ctx.services.clock.now()) });
      await tx.audited(user!.email);
    });
  },
});

const sendVerification = defineEndpoint({
  name: "send_verification",
  title: "Send the confirmation mail again",
  description: "Sends a new link to the address of who is signed in; those sent before stop working.",
  method: "POST",
  path: "/session/verification-mail",
  signedIn: true,
  errors: ["too_many_attempts", "connection_failed"],
  input: z.strictObject({}),
  status: 202,
  output: null,
  async run(_, ctx) {
    const { user } = ctx.current!;
    const { accounts } = ctx.services;
    await ctx.signIn.throttle.take("verification", { account: user.email, address: ctx.address });
    const { token, record } = accounts.newLink("verification", user.id);
    await ctx.write(user, async (tx) => {
      await tx.links.removeOf(user.id, ["verification"]);
      await tx.links.insert(record);
      await tx.audited(user.email);
    });
    const { sent } = await accounts.deliver("verification", user.email, token, SOMEBODY);
    if (!sent)
      throw new AppError(
        "connection_failed",
        "No mail could be sent. An admin can look into it; try again later.",
      );
  },
});

const changePassword = defineEndpoint({
  name: "change_password",
  title: "Change one's password",
  description: "Needs the present one. Every other session of the account ends.",
  method: "POST",
  path: "/session/change-password",
  signedIn: true,
  errors: ["sign_in_failed", "too_many_attempts"],
  input: z.strictObject({ current_password: Password, password: Password }),
  status: 204,
  output: null,
  async run({ current_password, password }, ctx) {
    const { user, session } = ctx.current!;
    const { throttle, passwords } = ctx.signIn;
    passwords.room();
    const attempt = await throttle.take("sign_in", { account: user.email, address: ctx.address });
    if (!(await verified(ctx, attempt, current_password, user.passwordHash)).ok)
      throw new AppError("sign_in_failed", "The present password is not right. Nothing was changed.");
    await attempt.succeeded();
    await passwords.check(password, user.email);
    const passwordHash = await passwords.hash(password);
    await ctx.write(user, async (tx) => {
      await unchanged(tx, user);
      // Ended meanwhile (a reset, an admin): then it changes nothing any more.
      if ((await tx.sessions.find(session.id)) === undefined) throw changedMeanwhile();
      await tx.users.update(user.id, { passwordHash });
      await tx.sessions.endAllOf(user.id, session.id);
      await tx.links.removeOf(user.id, ["reset"]);
      await tx.audited(user.email);
    });
  },
});

/** Every endpoint of signing in. */
export const sessionEndpoints: readonly SessionEndpoint[] = [
  getSession,
  signIn,
  signOut,
  signInOptions,
  setUp,
  lookAtLink,
  choosePassword,
  forgotPassword,
  verify,
  sendVerification,
  changePassword,
];

/** Who asked, as far as the mail can know: who typed the address. */
const SOMEBODY = "somebody who typed it in";
/** Whom the audit log names where nobody is signed in. */
const ANYBODY = "not signed in";

/** A link that works, and whose it is; nothing is written. @throws AppError link_dead */
async function openLink(ctx: SessionContext, token: string, kinds: readonly LinkKind[]) {
  const link = await liveLink(ctx, ctx.services.read.links.find(digestOf(token)), kinds);
  const user = link.userId === null ? undefined : await ctx.services.read.users.find(link.userId);
  if (user?.status === "deactivated") throw linkDead();
  return { link, user };
}

async function liveLink(
  ctx: SessionContext,
  finding: Promise<LinkRecord | undefined>,
  kinds: readonly LinkKind[],
): Promise<LinkRecord> {
  const link = await finding;
  if (link === undefined || !kinds.includes(link.kind)) throw linkDead(kinds);
  if (link.expiresAt !== null && link.expiresAt <= iso(ctx.services.clock.now())) throw linkDead(kinds);
  return link;
}

/** Whether it is the password; where we were too busy to look, the attempt was none. */
async function verified(ctx: SessionContext, attempt: Taken, password: string, hash: string | null) {
  try {
    return await ctx.signIn.passwords.verify(password, hash);
  } catch (error) {
    await attempt.undone();
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

/** Sends the mail that confirms an address; nobody waits for it. */
function post(ctx: SessionContext, to: string, token: string): void {
  ctx.services.accounts
    .deliver("verification", to, token, SOMEBODY)
    .catch((err: unknown) => ctx.services.log.warn({ err }, "mail not sent"));
}

const linkDead = (kinds: readonly LinkKind[] = []): AppError =>
  new AppError(
    "link_dead",
    kinds.length === 1 && kinds[0] === "setup"
      ? "This setup token does not work: it is mistyped, or older than 24 hours. Start Millrace again: it prints another link."
      : "This link does not work any more: it was used, replaced by a newer one, or is too old. Ask for another one.",
  );

const setupDone = (): AppError =>
  new AppError("setup_done", "The first admin exists already. Sign in, or ask an admin for an invitation.");

const signInFailed = (mail: boolean): AppError =>
  new AppError(
    "sign_in_failed",
    `The e-mail address or the password is not right. ${mail ? "If you have forgotten it, ask for a link to choose a new one." : "If you have forgotten it, ask an admin for a link to choose a new one."}`,
  );
