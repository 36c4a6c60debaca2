/** Endpoints of the links in mails: accept an invitation, choose a password, verify an address. */
import { z } from "zod";
import { timestamp } from "../../../schemas/text.ts";
import { Email, LinkKind, Password, SessionInfo } from "../../../schemas/user.ts";
import { digestOf } from "../../auth/key-format.ts";
import { iso } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { defineEndpoint, type SessionContext } from "./endpoint.ts";
import { linkExpired, requireValidLink, resolveLink, LinkToken } from "./links.ts";
import { ANONYMOUS_REQUESTER } from "./mails.ts";

/** The owner that the audit log records for a request without a session. */
const ANONYMOUS = "not signed in";

export const inspectLink = defineEndpoint({
  name: "look_at_link",
  title: "Get what a link is for",
  description: "Returns the kind of a link and its user, without using the link.",
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
      email: z
        .string()
        .nullable()
        .meta({ description: "The address of its user.", example: "ada@example.com" }),
      expires_at: timestamp.nullable(),
    })
    .meta({ id: "AccountLink", description: "A link from a mail." }),
  async run({ token }, ctx) {
    await ctx.signIn.throttle.consume("link", { address: ctx.address });
    const { link, user } = await resolveLink(ctx, token, ["setup", "invitation", "reset", "verification"]);
    return { kind: link.kind, email: user?.email ?? null, expires_at: link.expiresAt };
  },
});

export const choosePassword = defineEndpoint({
  name: "choose_password",
  title: "Choose a password with a link",
  description: "Accepts an invitation, or replaces a forgotten password. Both end all sessions of the user.",
  method: "POST",
  path: "/session/password",
  requiresSession: false,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "link_expired", "too_many_attempts"],
  input: z.strictObject({ token: LinkToken, password: Password }),
  status: 200,
  output: SessionInfo,
  async run({ token, password }, ctx) {
    const { services, signIn } = ctx;
    await signIn.throttle.consume("link", { address: ctx.address });
    const kinds = ["invitation", "reset"] as const;
    const { user } = await resolveLink(ctx, token, kinds);
    await signIn.passwords.validate(password, user!.email);
    const passwordHash = await signIn.passwords.hash(password);
    const started = await ctx.write(user!, async (tx) => {
      // A concurrent request may have used the link during hashing.
      await requireValidLink(ctx, tx.links.find(digestOf(token)), kinds);
      const now = iso(services.clock.now());
      const current = (await tx.users.find(user!.id))!;
      if (current.status === "deactivated") throw linkExpired();
      if (!(await tx.links.consume(digestOf(token)))) throw linkExpired();
      await tx.links.removeForUser(current.id, kinds);
      await tx.users.update(current.id, {
        passwordHash,
        status: "active",
        lastLoginAt: now,
        // If mail is configured, the link arrived by mail, which verifies the address.
        verifiedAt: current.verifiedAt ?? (services.accounts.mailEnabled ? now : null),
      });
      await tx.sessions.endAllForUser(current.id);
      await tx.recordAudit(current.email);
      return ctx.createSession(tx, (await tx.users.find(current.id))!);
    });
    await signIn.throttle.reset("sign_in", { account: user!.email, address: ctx.address });
    return ctx.sendSessionCookie(started);
  },
});

export const forgotPassword = defineEndpoint({
  name: "forgot_password",
  title: "Request a password reset",
  description: "Sends a link to the address if it belongs to a user. The answer is the same either way.",
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
    // After a random delay, so that response times do not reveal whether the account exists.
    setTimeout(
      () =>
        void sendReset(ctx, email).catch((err: unknown) =>
          ctx.services.log.warn({ err }, "password reset mail not sent"),
        ),
      Math.random() * ctx.signIn.resetDelayMs,
    );
  },
});

async function sendReset(ctx: SessionContext, email: string): Promise<void> {
  const { read, accounts } = ctx.services;
  const user = await read.users.findByEmail(email);
  if (user === undefined || user.status !== "active" || !accounts.mailEnabled) return;
  const { token, record } = accounts.newLink("reset", user.id);
  const created = await ctx.write(
    user,
    async (tx) => {
      if ((await tx.users.find(user.id))?.status !== "active") return false;
      await tx.links.removeForUser(user.id, ["reset"]);
      await tx.links.insert(record);
      await tx.recordAudit(email);
      return true;
    },
    ANONYMOUS,
  );
  if (created) await accounts.sendLink("reset", email, token, ANONYMOUS_REQUESTER, null);
}

export const verifyEmail = defineEndpoint({
  name: "verify_email",
  title: "Verify an e-mail address",
  description: "Verifies the address that the link was sent to.",
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
  title: "Send the verification mail again",
  description: "Sends a new link to the signed-in user's address; earlier links stop working.",
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
    const { sent } = await accounts.sendLink("verification", user.email, token, ANONYMOUS_REQUESTER, null);
    if (!sent)
      throw new AppError(
        "connection_failed",
        "The mail could not be sent. Try again later; if it keeps failing, ask an admin to check the mail settings.",
      );
  },
});
