import { z } from "zod";
import { NewEmail, Password, SessionInfo } from "../../../schemas/user.ts";
import { digestOf } from "../../auth/key-format.ts";
import type { UserRecord } from "../../core/account-ports.ts";
import { iso } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newUserId } from "../../core/ids.ts";
import { defineEndpoint } from "./endpoint.ts";
import { requireValidLink, resolveLink, LinkToken } from "./links.ts";
import { sendVerificationMail } from "./mails.ts";

export const setUp = defineEndpoint({
  name: "set_up",
  title: "Create the first admin",
  description:
    "Creates the first admin account, with the one-time token of the setup link (`millrace users setup-link`).",
  method: "POST",
  path: "/session/setup",
  requiresSession: false,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "setup_done", "link_expired", "too_many_attempts"],
  input: z.strictObject({ token: LinkToken, email: NewEmail, password: Password }),
  status: 201,
  output: SessionInfo,
  async run({ token, email, password }, ctx) {
    const { services, signIn } = ctx;
    await signIn.throttle.consume("setup", { address: ctx.address });
    if (await services.read.users.exists()) throw setupDone();
    // Checked first, so that a wrong token costs no password check and no hashing.
    await resolveLink(ctx, token, ["setup"]);
    await signIn.passwords.validate(password, email);
    const now = iso(services.clock.now());
    const user: UserRecord = {
      id: newUserId(),
      email,
      role: "admin",
      status: "active",
      passwordHash: null,
      roleSource: null,
      verifiedAt: null,
      createdAt: now,
      createdBy: email,
      lastLoginAt: now,
    };
    const passwordHash = await signIn.passwords.hash(password);
    const verification = services.accounts.newLink("verification", user.id);
    const started = await ctx.write(user, async (tx) => {
      await requireValidLink(ctx, tx.links.find(digestOf(token)), ["setup"]);
      await tx.users.insertFirst({ ...user, passwordHash });
      await tx.links.removeForUser(null, ["setup"]);
      if (services.accounts.mailEnabled) await tx.links.insert(verification.record);
      await tx.recordAudit(email);
      return ctx.createSession(tx, user);
    });
    if (services.accounts.mailEnabled) sendVerificationMail(ctx, email, verification.token);
    return ctx.sendSessionCookie(started);
  },
});

const setupDone = (): AppError =>
  new AppError("setup_done", "The first admin already exists. Sign in, or ask an admin for an invitation.");
