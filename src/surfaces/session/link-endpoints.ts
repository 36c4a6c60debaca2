/** What the links in mails lead to: an invitation taken up, a new password, a confirmed address. */
import { z } from "zod";
import { timestamp } from "../../../schemas/text.ts";
import { Email, LinkKind, Password, SessionInfo } from "../../../schemas/user.ts";
import { digestOf } from "../../auth/key-format.ts";
import { iso } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { defineEndpoint, type SessionContext } from "./endpoint.ts";
import { linkExpired, requireValidLink, resolveLink, LinkToken } from "./links.ts";
import { ANONYMOUS_REQUESTER } from "./mails.ts";

/** Whom the audit log names where nobody is signed in. */
const ANYBODY = "not signed in";

export const inspectLink = defineEndpoint({
  name: "look_at_link",
  title: "What a link is for",
  description: "Tells what a link is for and whose it is. It is not used up.",
  method: "POST",
  path: "/session/link",
  requiresSession: false,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "link_expired", "too_many_attempts"],
  input: z.strictObject({ token: LinkToken }),
  status: 200,
  output: z
    .strictObject({
      kind: LinkKind,
      email: z.string().nullable().meta({ description: "Whose it is.", example: "ada@example.com" }),
      expires_at: timestamp.nullable(),
    })
    .meta({ id: "AccountLink", description: "A link out of a mail." }),
  async run({ token }, ctx) {
    await ctx.signIn.throttle.consume("link", { address: ctx.address });
    const { link, user } = await resolveLink(ctx, token, ["setup", "invitation", "reset", "verification"]);
    return { kind: link.kind, email: user?.email ?? null, expires_at: link.expiresAt };
  },
});

export const choosePassword = defineEndpoint({
  name: "choose_password",
  title: "Choose a password with a link",
  description:
    "Takes an invitation up, or replaces a forgotten password; either ends every session the account had.",
  method: "POST",
  path: "/session/password",
  requiresSession: false,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "link_expired", "too_many_attempts"],
  input: z.strictObject({ token: LinkToken, password: Password }),
  status: 200,
  output: SessionInfo,
  async run({ token, password }, ctx) {
    const { services, signIn: door } = ctx;
    await door.throttle.consume("link", { address: ctx.address });
    const kinds = ["invitation", "reset"] as const;
    const { user } = await resolveLink(ctx, token, kinds);
    await door.passwords.validate(password, user!.email);
    const passwordHash = await door.passwords.hash(password);
    const begun = await ctx.write(user!, async (tx) => {
      // Another may have used it while this one was hashing.
      await requireValidLink(ctx, tx.links.find(digestOf(token)), kinds);
      const now = iso(services.clock.now());
      const fresh = (await tx.users.find(user!.id))!;
      if (fresh.status === "deactivated") throw linkExpired();
      if (!(await tx.links.consume(digestOf(token)))) throw linkExpired();
      await tx.links.removeForUser(fresh.id, kinds);
      await tx.users.update(fresh.id, {
        passwordHash,
        status: "active",
        lastLoginAt: now,
        // Where mail is sent, the link came out of one.
        verifiedAt: fresh.verifiedAt ?? (services.accounts.mailEnabled ? now : null),
      });
      await tx.sessions.endAllForUser(fresh.id);
      await tx.recordAudit(fresh.email);
      return ctx.createSession(tx, (await tx.users.find(fresh.id))!);
    });
    await door.throttle.reset("sign_in", { account: user!.email, address: ctx.address });
    return ctx.sendSessionCookie(begun);
  },
});

export const forgotPassword = defineEndpoint({
  name: "forgot_password",
  title: "Ask for a link to choose a new password",
  description: "Sends a link to the address if it is somebody's; the answer is the same either way.",
  method: "POST",
  path: "/session/password-reset",
  requiresSession: false,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "too_many_attempts"],
  input: z.strictObject({ email: Email }),
  status: 202,
  output: null,
  async run({ email }, ctx) {
    await ctx.signIn.throttle.consume("reset", { account: email, address: ctx.address });
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
  if (user === undefined || user.status !== "active" || !accounts.mailEnabled) return;
  const { token, record } = accounts.newLink("reset", user.id);
  const made = await ctx.write(
    user,
    async (tx) => {
      if ((await tx.users.find(user.id))?.status !== "active") return false;
      await tx.links.removeForUser(user.id, ["reset"]);
      await tx.links.insert(record);
      await tx.recordAudit(email);
      return true;
    },
    ANYBODY,
  );
  if (made) await accounts.sendLink("reset", email, token, ANONYMOUS_REQUESTER);
}

export const verifyEmail = defineEndpoint({
  name: "verify_email",
  title: "Confirm an e-mail address",
  description: "Confirms the address that the link was sent to.",
  method: "POST",
  path: "/session/verification",
  requiresSession: false,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "link_expired", "too_many_attempts"],
  input: z.strictObject({ token: LinkToken }),
  status: 204,
  output: null,
  async run({ token }, ctx) {
    await ctx.signIn.throttle.consume("link", { address: ctx.address });
    const { user } = await resolveLink(ctx, token, ["verification"]);
    await ctx.write(user!, async (tx) => {
      await requireValidLink(ctx, tx.links.find(digestOf(token)), ["verification"]);
      await tx.links.removeForUser(user!.id, ["verification"]);
      await tx.users.update(user!.id, { verifiedAt: iso(ctx.services.clock.now()) });
      await tx.recordAudit(user!.email);
    });
  },
});

export const sendVerification = defineEndpoint({
  name: "send_verification",
  title: "Send the confirmation mail again",
  description: "Sends a new link to the address of who is signed in; those sent before stop working.",
  method: "POST",
  path: "/session/verification-mail",
  requiresSession: true,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "too_many_attempts", "connection_failed"],
  input: z.strictObject({}),
  status: 202,
  output: null,
  async run(_, ctx) {
    const { user } = ctx.current!;
    const { accounts } = ctx.services;
    await ctx.signIn.throttle.consume("verification", { account: user.email, address: ctx.address });
    const { token, record } = accounts.newLink("verification", user.id);
    await ctx.write(user, async (tx) => {
      await tx.links.removeForUser(user.id, ["verification"]);
      await tx.links.insert(record);
      await tx.recordAudit(user.email);
    });
    const { sent } = await accounts.sendLink("verification", user.email, token, ANONYMOUS_REQUESTER);
    if (!sent)
      throw new AppError(
        "connection_failed",
        "No mail could be sent. An admin can look into it; try again later.",
      );
  },
});
