/** Checks a code, a recovery code or a passkey of a person. What it finds is used up in the caller's transaction. */
import { z } from "zod";
import { PasskeyAssertion, RecoveryCode, TotpCode } from "../../../schemas/second-factor.ts";
import { digestOf } from "../../auth/key-format.ts";
import { assertionOptions, challengeOf, isPasskey, verifyAssertion } from "../../auth/passkeys.ts";
import { recoveryCodeDigest } from "../../auth/recovery-codes.ts";
import { type RelyingParty, STEP_MS } from "../../auth/second-factors.ts";
import { matchTotp } from "../../auth/totp.ts";
import type { UserRecord } from "../../core/account-ports.ts";
import { iso } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { FactorChallengeKind } from "../../core/factor-ports.ts";
import { invalidInput } from "../../core/issues.ts";
import type { Writers } from "../../core/ports.ts";
import type { SessionContext } from "./endpoint.ts";

/** One of these proves a second factor. */
export const proofFields = {
  code: TotpCode.optional(),
  recovery_code: RecoveryCode.optional(),
  passkey: PasskeyAssertion.optional(),
};
const Proof = z.strictObject(proofFields);
type FactorProof = z.output<typeof Proof>;

/** A proof that is right, unless somebody else uses it first. */
interface CheckedProof {
  /** What the audit log says. */
  used: { second_factor: string; name?: string };
  /** Uses it up. @throws AppError second_factor_failed when it was used meanwhile */
  use(tx: Pick<Writers, "factors">): Promise<void>;
  /** Call it after the commit. */
  succeeded(): Promise<void>;
}

/**
 * Checks a proof, at most ten codes of authenticator apps an hour for each account; other proofs are limited by address only.
 * @param holder the session or the pending sign-in that a passkey's challenge was made for
 * @throws AppError second_factor_failed, too_many_attempts, invalid_input unless there is one proof
 */
export async function checkFactor(
  ctx: SessionContext,
  user: UserRecord,
  holder: string,
  { code, recovery_code, passkey }: FactorProof,
): Promise<CheckedProof> {
  if ([code, recovery_code, passkey].filter((one) => one !== undefined).length !== 1)
    throw invalidInput([
      {
        path: "code",
        code: "missing",
        message: "must be given, or one of `recovery_code` and `passkey` instead",
      },
    ]);
  // Six digits can be guessed. The signature of a passkey and the 80 random bits of a recovery code can't, so guesses by
  // somebody who has the password must not lock the owner of these out.
  const account = code === undefined ? {} : { account: user.email };
  const attempt = await ctx.signIn.throttle.consume("second_factor", { ...account, address: ctx.address });
  const checked =
    code !== undefined
      ? await checkCode(ctx, user, code)
      : recovery_code !== undefined
        ? checkRecoveryCode(user, recovery_code)
        : await checkPasskey(ctx, user, holder, passkey!);
  return { ...checked, succeeded: () => attempt.markSucceeded() };
}

type Checked = Omit<CheckedProof, "succeeded">;

async function checkCode(ctx: SessionContext, user: UserRecord, code: string): Promise<Checked> {
  const { read, clock } = ctx.services;
  const matches = (await read.factors.list(user.id)).flatMap((factor) => {
    if (factor.sealedSecret === null) return [];
    const step = matchTotp(ctx.signIn.factors.unseal(factor.sealedSecret), code, clock.now());
    return step === undefined ? [] : [{ factor, step }];
  });
  const found = matches.find(({ factor, step }) => step > factor.counter);
  if (found === undefined) throw matches.length > 0 ? codeUsed() : codeWrong();
  const { factor, step } = found;
  return {
    used: { second_factor: "totp", name: factor.name },
    async use(tx) {
      if (!(await tx.factors.useFactor(factor.id, step))) throw codeUsed();
    },
  };
}

function checkRecoveryCode(user: UserRecord, typed: string): Checked {
  return {
    used: { second_factor: "recovery_code" },
    async use(tx) {
      if (await tx.factors.useRecoveryCode(user.id, recoveryCodeDigest(user.id, typed))) return;
      throw new AppError(
        "second_factor_failed",
        "The recovery code is wrong, or was used before. Try another one, or ask an admin to reset your second factor.",
      );
    },
  };
}

async function checkPasskey(
  ctx: SessionContext,
  user: UserRecord,
  holder: string,
  assertion: NonNullable<FactorProof["passkey"]>,
): Promise<Checked> {
  const challenge = await takeChallenge(ctx, user, { kind: "assert", holder }, assertion.client_data_json);
  const factors = await ctx.services.read.factors.list(user.id);
  const factor = factors.filter(isPasskey).find(({ passkey }) => passkey.credentialId === assertion.id);
  if (challenge === undefined || factor === undefined) throw passkeyRefused();
  const counter = await verifyAssertion(relyingPartyOf(ctx), challenge, factor, assertion).catch(
    refusePasskey(ctx),
  );
  return {
    used: { second_factor: "passkey", name: factor.name },
    async use(tx) {
      if (!(await tx.factors.useFactor(factor.id, counter))) throw passkeyRefused();
    },
  };
}

/** Makes the challenge for one of a user's passkeys. @throws AppError passkeys_unavailable */
export async function beginAssertion(ctx: SessionContext, user: UserRecord, holder: string) {
  const options = await assertionOptions(relyingPartyOf(ctx), await ctx.services.read.factors.list(user.id));
  await storeChallenge(ctx, user, { kind: "assert", holder }, options.challenge);
  return { options: { ...options } };
}

interface ChallengeOwner {
  kind: Extract<FactorChallengeKind, "assert" | "register">;
  /** The session or the pending sign-in. */
  holder: string;
}

export const storeChallenge = (
  ctx: SessionContext,
  user: UserRecord,
  owner: ChallengeOwner,
  challenge: string,
): Promise<void> =>
  ctx.write(user, (tx) =>
    tx.factors.insertChallenge({
      ...owner,
      digest: digestOf(challenge),
      userId: user.id,
      sealed: null,
      expiresAt: iso(ctx.services.clock.now() + STEP_MS),
    }),
  );

/**
 * Takes the challenge of an answer, before it is verified: a challenge is answered once, rightly or not.
 * @returns undefined if it was not made for this person and this holder, has expired, or was taken
 */
export async function takeChallenge(
  ctx: SessionContext,
  user: UserRecord,
  owner: ChallengeOwner,
  clientDataJson: string,
): Promise<string | undefined> {
  const challenge = challengeOf(clientDataJson);
  if (challenge === undefined) return undefined;
  const taken = await ctx.write(user, (tx) =>
    tx.factors.takeChallenge({ ...owner, digest: digestOf(challenge), userId: user.id }),
  );
  return taken ? challenge : undefined;
}

/** @throws AppError passkeys_unavailable */
export function relyingPartyOf({ signIn }: SessionContext): RelyingParty {
  const party = signIn.factors.relyingParty();
  if (party !== undefined) return party;
  throw new AppError(
    "passkeys_unavailable",
    "Browsers make no passkeys for IP addresses. Ask the operator to set MILLRACE_BASE_URL to a URL with a host name, or use an authenticator app.",
  );
}

const codeWrong = (): AppError =>
  new AppError(
    "second_factor_failed",
    "The code is wrong. Use the one that the app shows now; if it keeps failing, check the clock of the device.",
  );

const codeUsed = (): AppError =>
  new AppError("second_factor_failed", "This code was used already. Wait until the app shows the next one.");

/** Returns a function that logs why a passkey is not valid, which the person can't fix, and throws. */
export const refusePasskey =
  ({ services }: SessionContext) =>
  (cause: unknown): never => {
    services.log.info({ reason: (cause as Error).message }, "passkey refused");
    throw passkeyRefused();
  };

export const passkeyRefused = (): AppError =>
  new AppError(
    "second_factor_failed",
    "The passkey could not be verified: it is not one of this account, or took longer than ten minutes. Try again.",
  );
