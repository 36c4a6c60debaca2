/** Endpoints of the second step of a sign-in, and of proving again who is there. */
import { z } from "zod";
import { timestamp } from "../../../schemas/text.ts";
import { Password, SessionInfo } from "../../../schemas/user.ts";
import { PasskeyOptions } from "../../../schemas/second-factor.ts";
import { notifyOfFactor } from "../../core/factor-notices.ts";
import { CONFIRMED_MS } from "../../auth/second-factors.ts";
import { iso } from "../../core/clock.ts";
import type { UserRecord } from "../../core/account-ports.ts";
import { AppError } from "../../core/errors.ts";
import { defineEndpoint, type SessionContext } from "./endpoint.ts";
import { beginAssertion, checkFactor, proofFields } from "./factor-check.ts";
import { finishSecondStep, type PendingSignIn, signInExpired } from "./second-step.ts";
import { verifyPassword } from "./verify-password.ts";

export const completeSecondStep = defineEndpoint({
  name: "complete_sign_in",
  title: "Complete a sign-in",
  description:
    "Starts the session after sign_in asked for a second factor: with a code of an authenticator app, a passkey or a recovery code.",
  method: "POST",
  path: "/session/second-factor",
  requiresSession: false,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "sign_in_expired", "second_factor_failed", "too_many_attempts"],
  input: z.strictObject(proofFields),
  status: 200,
  output: SessionInfo,
  async run(proof, ctx) {
    const { clock } = ctx.services;
    const pending = await requirePending(ctx);
    const { user, challenge } = pending;
    const checked = await checkFactor(ctx, user, challenge.holder, proof);
    const { started, left } = await ctx.write(user, async (tx) => {
      const current = await finishSecondStep(tx, pending);
      await checked.use(tx);
      await tx.users.update(current.id, { lastLoginAt: iso(clock.now()) });
      await tx.recordAudit(current.email, undefined, { details: checked.used });
      return {
        started: await ctx.createSession(tx, current),
        left: await tx.factors.countRecoveryCodes(current.id),
      };
    });
    await checked.succeeded();
    if (proof.recovery_code !== undefined) mailRecoveryCodeUse(ctx, user, left);
    return ctx.sendSessionCookie(started);
  },
});

export const beginSecondStepPasskey = defineEndpoint({
  name: "begin_sign_in_passkey",
  title: "Get a challenge to complete a sign-in",
  description: "Returns what the browser needs to use a passkey as the second factor of a sign-in.",
  method: "POST",
  path: "/session/second-factor/passkey",
  requiresSession: false,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "sign_in_expired", "passkeys_unavailable"],
  input: z.strictObject({}),
  status: 200,
  output: PasskeyOptions,
  async run(_, ctx) {
    const { user, challenge } = await requirePending(ctx);
    return beginAssertion(ctx, user, challenge.holder);
  },
});

export const confirmIdentity = defineEndpoint({
  name: "confirm_identity",
  title: "Confirm who you are",
  description:
    "Proves with the password or a second factor that the signed-in person is still there. For ten minutes second factors can then be changed.",
  method: "POST",
  path: "/session/confirmation",
  requiresSession: true,
  whileSettingUp: true,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "sign_in_failed", "second_factor_failed", "too_many_attempts"],
  input: z.strictObject({ password: Password.optional(), ...proofFields }),
  status: 200,
  output: z
    .strictObject({ confirmed_until: timestamp })
    .meta({ id: "IdentityConfirmed", description: "Until when changes need no further confirmation." }),
  async run({ password, ...proof }, ctx) {
    const { user, session } = ctx.current!;
    const checked =
      password === undefined
        ? await checkFactor(ctx, user, session.id, proof)
        : await checkPassword(ctx, password);
    const left = await ctx.write(user, async (tx) => {
      await checked.use(tx);
      await tx.sessions.confirm(session.id);
      await tx.recordAudit(user.email, undefined, { details: checked.used });
      return tx.factors.countRecoveryCodes(user.id);
    });
    await checked.succeeded();
    if (proof.recovery_code !== undefined) mailRecoveryCodeUse(ctx, user, left);
    return { confirmed_until: iso(ctx.services.clock.now() + CONFIRMED_MS) };
  },
});

export const beginConfirmationPasskey = defineEndpoint({
  name: "begin_confirmation_passkey",
  title: "Get a challenge to confirm who you are",
  description: "Returns what the browser needs to confirm the signed-in person with a passkey.",
  method: "POST",
  path: "/session/confirmation/passkey",
  requiresSession: true,
  builtInOnly: true,
  errors: ["sign_on_elsewhere", "passkeys_unavailable"],
  input: z.strictObject({}),
  status: 200,
  output: PasskeyOptions,
  run: async (_, ctx) => beginAssertion(ctx, ctx.current!.user, ctx.current!.session.id),
});

/** Each use of a recovery code is mailed: somebody else may have found the codes. Requests do not wait for it. */
const mailRecoveryCodeUse = (ctx: SessionContext, { email }: UserRecord, left: number): void =>
  void notifyOfFactor(
    ctx.services.accounts,
    email,
    { kind: "recovery_code_used", left },
    ctx.requestDetails(),
  );

async function requirePending(ctx: SessionContext): Promise<PendingSignIn> {
  const pending = await ctx.pendingSignIn();
  if (pending === undefined) throw signInExpired();
  return pending;
}

async function checkPassword(ctx: SessionContext, password: string) {
  const { user } = ctx.current!;
  const { throttle, passwords } = ctx.signIn;
  passwords.assertCapacity();
  const attempt = await throttle.consume("sign_in", { account: user.email, address: ctx.address });
  if (!(await verifyPassword(ctx, attempt, password, user.passwordHash)).ok)
    throw new AppError("sign_in_failed", "The password is wrong. Nothing was changed.");
  return {
    used: { confirmed_with: "password" },
    use: async () => {},
    succeeded: () => attempt.markSucceeded(),
  };
}
