/** Endpoints of the signed-in user's second factors. Each change needs a recent sign-in or confirmation. */
import { z } from "zod";
import { timestamp } from "../../../schemas/text.ts";
import {
  FactorAdded,
  FactorIdRef,
  FactorName,
  MAX_FACTORS,
  PasskeyOptions,
  PasskeyRegistration,
  RecoveryCodes,
  type SecondFactor,
  SecondFactors,
  TotpCode,
} from "../../../schemas/second-factor.ts";
import { notifyOfFactor } from "../../core/factor-notices.ts";
import { digestOf } from "../../auth/key-format.ts";
import { registrationOptions, verifyRegistration } from "../../auth/passkeys.ts";
import { newRecoveryCodes } from "../../auth/recovery-codes.ts";
import { CONFIRMED_MS, STEP_MS } from "../../auth/second-factors.ts";
import { matchTotp, newTotpSecret, totpUri } from "../../auth/totp.ts";
import { iso } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { SecondFactorRecord } from "../../core/factor-ports.ts";
import { newFactorId } from "../../core/ids.ts";
import { defineEndpoint, type SessionContext } from "./endpoint.ts";
import {
  passkeyRefused,
  refusePasskey,
  relyingPartyOf,
  storeChallenge,
  takeChallenge,
} from "./factor-check.ts";

const OWN = { requiresSession: true, whileSettingUp: true, builtInOnly: true } as const;

export const getSecondFactors = defineEndpoint({
  ...OWN,
  name: "get_second_factors",
  title: "Get your second factors",
  description: "Returns the second factors of the signed-in user, never their secrets.",
  method: "GET",
  path: "/session/factors",
  errors: ["sign_on_elsewhere"],
  input: z.strictObject({}),
  status: 200,
  output: SecondFactors,
  async run(_, ctx) {
    const { user } = ctx.current!;
    const { read } = ctx.services;
    return {
      factors: (await read.factors.list(user.id)).map(serializeFactor),
      recovery_codes: await read.factors.countRecoveryCodes(user.id),
      required: await ctx.signIn.factors.isRequired(user),
      passkey_origin: ctx.signIn.factors.relyingParty()?.origin ?? null,
      confirmed_until: confirmedUntil(ctx),
    };
  },
});

export const beginTotp = defineEndpoint({
  ...OWN,
  name: "begin_totp",
  title: "Begin to add an authenticator app",
  description:
    "Returns a new shared secret, which is shown only now. add_totp completes it with a code, within ten minutes in this session.",
  method: "POST",
  path: "/session/factors/totp",
  errors: ["sign_on_elsewhere", "reauthentication_required"],
  input: z.strictObject({}),
  status: 200,
  output: z
    .strictObject({
      secret: z.string().meta({ description: "In base32, to be typed in.", example: "JBSWY3DPEHPK3PXP" }),
      uri: z.string().meta({
        description: "For a QR code.",
        example: "otpauth://totp/Millrace:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Millrace",
      }),
      expires_at: timestamp,
    })
    .meta({ id: "TotpSetup", description: "What an authenticator app needs." }),
  async run(_, ctx) {
    requireConfirmed(ctx);
    const { user, session } = ctx.current!;
    const secret = newTotpSecret();
    const expiresAt = iso(ctx.services.clock.now() + STEP_MS);
    await ctx.write(user, (tx) =>
      tx.factors.insertChallenge({
        ...setupOf(session.id),
        userId: user.id,
        sealed: ctx.signIn.factors.seal(secret),
        expiresAt,
      }),
    );
    const instance = new URL(await ctx.services.accounts.pageUrl("/")).host;
    return { secret, uri: totpUri(secret, user.email, instance), expires_at: expiresAt };
  },
});

export const addTotp = defineEndpoint({
  ...OWN,
  name: "add_totp",
  title: "Add an authenticator app",
  description: "Adds the app that begin_totp was called for, if it shows the right code.",
  method: "POST",
  path: "/session/factors/totp/confirm",
  errors: [
    "sign_on_elsewhere",
    "reauthentication_required",
    "second_factor_failed",
    "sign_in_expired",
    "too_many_factors",
    "too_many_attempts",
    "upgrade_unfinished",
  ],
  input: z.strictObject({ code: TotpCode, name: FactorName }),
  status: 200,
  output: FactorAdded,
  async run({ code, name }, ctx) {
    requireConfirmed(ctx);
    const { user, session } = ctx.current!;
    const { read, clock } = ctx.services;
    const attempt = await ctx.signIn.throttle.consume("second_factor", {
      account: user.email,
      address: ctx.address,
    });
    const setup = await read.factors.findChallenge("totp", setupOf(session.id).digest);
    if (setup === undefined || setup.sealed === null || setup.userId !== user.id) throw setupExpired();
    const secret = ctx.signIn.factors.unseal(setup.sealed);
    const step = matchTotp(secret, code, clock.now());
    if (step === undefined)
      throw new AppError(
        "second_factor_failed",
        "The code is wrong. Scan the QR code again, and use the code that the app shows now.",
      );
    const added = await addFactor(
      ctx,
      { kind: "totp", name, counter: step, sealedSecret: setup.sealed, passkey: null },
      (tx) => tx.factors.takeChallenge({ ...setupOf(session.id), userId: user.id }),
    );
    await attempt.markSucceeded();
    return added;
  },
});

export const beginPasskey = defineEndpoint({
  ...OWN,
  name: "begin_passkey",
  title: "Begin to add a passkey",
  description: "Returns what the browser needs to make a passkey. add_passkey completes it, in this session.",
  method: "POST",
  path: "/session/factors/passkey/options",
  errors: ["sign_on_elsewhere", "reauthentication_required", "passkeys_unavailable"],
  input: z.strictObject({}),
  status: 200,
  output: PasskeyOptions,
  async run(_, ctx) {
    requireConfirmed(ctx);
    const { user, session } = ctx.current!;
    const known = await ctx.services.read.factors.list(user.id);
    const options = await registrationOptions(relyingPartyOf(ctx), user, known);
    await storeChallenge(ctx, user, { kind: "register", holder: session.id }, options.challenge);
    return { options: { ...options } };
  },
});

export const addPasskey = defineEndpoint({
  ...OWN,
  name: "add_passkey",
  title: "Add a passkey",
  description: "Adds a passkey that the browser has made for begin_passkey.",
  method: "POST",
  path: "/session/factors/passkey",
  errors: [
    "sign_on_elsewhere",
    "reauthentication_required",
    "second_factor_failed",
    "passkeys_unavailable",
    "too_many_factors",
    "upgrade_unfinished",
  ],
  input: z.strictObject({ name: FactorName, passkey: PasskeyRegistration }),
  status: 200,
  output: FactorAdded,
  async run({ name, passkey }, ctx) {
    requireConfirmed(ctx);
    const { user, session } = ctx.current!;
    const owner = { kind: "register", holder: session.id } as const;
    const challenge = await takeChallenge(ctx, user, owner, passkey.client_data_json);
    if (challenge === undefined) throw passkeyRefused();
    const verified = await verifyRegistration(relyingPartyOf(ctx), challenge, passkey).catch(
      refusePasskey(ctx),
    );
    return addFactor(ctx, { kind: "passkey", name, ...verified, sealedSecret: null }, async () => true);
  },
});

export const removeFactor = defineEndpoint({
  ...OWN,
  name: "remove_second_factor",
  title: "Remove a second factor",
  description: "Removes a second factor of the signed-in user; with the last one, the recovery codes.",
  method: "POST",
  path: "/session/factors/remove",
  errors: ["sign_on_elsewhere", "reauthentication_required", "factor_not_found", "last_factor"],
  input: z.strictObject({ factor_id: FactorIdRef }),
  status: 204,
  output: null,
  async run({ factor_id }, ctx) {
    requireConfirmed(ctx);
    const { user } = ctx.current!;
    const required = await ctx.signIn.factors.isRequired(user);
    const { name } = await ctx.write(user, async (tx) => {
      const factors = await tx.factors.list(user.id);
      const factor = factors.find(({ id }) => id === factor_id);
      if (factor === undefined) throw factorNotFound();
      const isLast = factors.length === 1;
      if (isLast && required)
        throw new AppError(
          "last_factor",
          "Your role requires a second factor, and this is your only one. Add another one first.",
        );
      if (!(await tx.factors.removeFactor(user.id, factor.id))) throw factorNotFound();
      if (isLast) await tx.factors.removeAll(user.id);
      await tx.recordAudit(user.email, undefined, { details: { kind: factor.kind, name: factor.name } });
      return factor;
    });
    void notifyOfFactor(ctx.services.accounts, user.email, { kind: "removed", name }, ctx.requestDetails());
  },
});

export const renewRecoveryCodes = defineEndpoint({
  ...OWN,
  name: "renew_recovery_codes",
  title: "Make new recovery codes",
  description: "Returns ten new recovery codes, which are shown only now. Earlier ones stop working.",
  method: "POST",
  path: "/session/factors/recovery-codes",
  errors: ["sign_on_elsewhere", "reauthentication_required", "factor_not_found"],
  input: z.strictObject({}),
  status: 200,
  output: RecoveryCodes,
  async run(_, ctx) {
    requireConfirmed(ctx);
    const { user } = ctx.current!;
    const { codes, digests } = newRecoveryCodes(user.id);
    await ctx.write(user, async (tx) => {
      if ((await tx.factors.list(user.id)).length === 0)
        throw new AppError(
          "factor_not_found",
          "You have no second factor. Add one first; it comes with recovery codes.",
        );
      await tx.factors.replaceRecoveryCodes(user.id, digests);
      await tx.recordAudit(user.email);
    });
    void notifyOfFactor(
      ctx.services.accounts,
      user.email,
      { kind: "recovery_codes_renewed" },
      ctx.requestDetails(),
    );
    return { recovery_codes: codes };
  },
});

/**
 * Adds a factor. The first one comes with recovery codes, and ends the user's other sessions, which began without it.
 * @param take ends what was begun, in the transaction; false if that is over
 */
async function addFactor(
  ctx: SessionContext,
  fields: Pick<SecondFactorRecord, "kind" | "name" | "counter" | "sealedSecret" | "passkey">,
  take: (tx: Parameters<Parameters<SessionContext["write"]>[1]>[0]) => Promise<boolean>,
): Promise<z.input<typeof FactorAdded>> {
  const { user, session } = ctx.current!;
  const { clock, accounts } = ctx.services;
  const factor: SecondFactorRecord = {
    ...fields,
    id: newFactorId(),
    userId: user.id,
    createdAt: iso(clock.now()),
    lastUsedAt: null,
  };
  const { codes, digests } = newRecoveryCodes(user.id);
  const isFirst = await ctx.write(user, async (tx) => {
    // A session that has ended meanwhile (a reset, an admin) must change nothing.
    const isOver = (await tx.sessions.find(session.id)) === undefined;
    if (isOver || !(await take(tx))) throw setupExpired();
    const known = await tx.factors.list(user.id);
    if (known.length >= MAX_FACTORS)
      throw new AppError(
        "too_many_factors",
        `You have ${MAX_FACTORS} second factors, which is the most. Remove one that you no longer use.`,
      );
    if (!(await tx.factors.insertFactor(factor))) throw passkeyRefused();
    if (known.length === 0) {
      await tx.factors.replaceRecoveryCodes(user.id, digests);
      await tx.sessions.endAllForUser(user.id, session.id);
    }
    await tx.recordAudit(user.email, undefined, { details: { kind: factor.kind, name: factor.name } });
    return known.length === 0;
  });
  void notifyOfFactor(accounts, user.email, { kind: "added", name: factor.name }, ctx.requestDetails());
  return { factor: serializeFactor(factor), recovery_codes: isFirst ? codes : null };
}

const serializeFactor = (factor: SecondFactorRecord): SecondFactor => ({
  id: factor.id,
  kind: factor.kind,
  name: factor.name,
  created_at: factor.createdAt,
  last_used_at: factor.lastUsedAt,
});

/** One set-up at a time in each session; a later one replaces it. */
const setupOf = (sessionId: string) => ({
  kind: "totp" as const,
  holder: sessionId,
  digest: digestOf(`totp ${sessionId}`),
});

function confirmedUntil({ current, services }: SessionContext): string | null {
  const { confirmedAt } = current!.session;
  if (confirmedAt === null) return null;
  const until = iso(Date.parse(confirmedAt) + CONFIRMED_MS);
  return until > iso(services.clock.now()) ? until : null;
}

function requireConfirmed(ctx: SessionContext): void {
  if (confirmedUntil(ctx) !== null) return;
  throw new AppError(
    "reauthentication_required",
    "Confirm first that it is you, with your password or a second factor (confirm_identity). Nothing was changed.",
  );
}

const setupExpired = (): AppError =>
  new AppError("sign_in_expired", "This set-up has expired, or was finished already. Begin again.");

const factorNotFound = (): AppError =>
  new AppError("factor_not_found", "You have no such second factor. List them with get_second_factors.");
