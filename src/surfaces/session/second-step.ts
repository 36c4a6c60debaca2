/** The second step of a sign-in: a cookie that opens nothing but this step, bound to the password that was right. */
import { parseCookie, stringifySetCookie } from "cookie";
import { digestOf, randomBase62 } from "../../auth/key-format.ts";
import { ipv6SiteOf, networkOf } from "../../auth/network.ts";
import { STEP_MS } from "../../auth/second-factors.ts";
import type { SecondStep } from "../../../schemas/second-factor.ts";
import type { UserRecord } from "../../core/account-ports.ts";
import { type Clock, iso, SECOND } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { FactorChallenge } from "../../core/factor-ports.ts";
import type { Readers, Writers } from "../../core/ports.ts";

const TOKEN = /^[0-9A-Za-z]{32}$/;

const cookieName = (secure: boolean): string =>
  secure ? "__Host-millrace-second-step" : "millrace_second_step";

/** The `Set-Cookie` that stores the token of a second step, or removes it. */
export const secondStepCookie = (token: string | null, secure: boolean): string =>
  stringifySetCookie({
    name: cookieName(secure),
    value: token ?? "",
    path: "/",
    httpOnly: true,
    secure,
    sameSite: "strict",
    maxAge: token === null ? 0 : STEP_MS / SECOND,
  });

/** A sign-in whose password was right. */
export interface PendingSignIn {
  user: UserRecord;
  challenge: FactorChallenge;
}

/** A second step that was begun, with the token for its cookie. */
export interface BegunSecondStep {
  token: string;
  answer: SecondStep;
}

/**
 * Begins the second step for a user whose password is right, in the transaction that found that out.
 * @param address the IP address of the client: its steps count together, so that somebody elsewhere who has the password
 * can't end those of the owner
 */
export async function beginSecondStep(
  tx: Pick<Writers, "factors">,
  user: UserRecord,
  address: string,
  clock: Clock,
): Promise<BegunSecondStep> {
  const token = randomBase62(32);
  const digest = digestOf(token);
  const expiresAt = iso(clock.now() + STEP_MS);
  await tx.factors.insertChallenge({
    digest,
    kind: "sign_in",
    userId: user.id,
    holder: `${originOf(address)}.${digest.toString("base64url")}`,
    sealed: passwordState(user),
    expiresAt,
  });
  const kinds = new Set((await tx.factors.list(user.id)).map(({ kind }) => kind));
  const hasCodes = (await tx.factors.countRecoveryCodes(user.id)) > 0;
  const methods = [...kinds, ...(hasCodes ? (["recovery_code"] as const) : [])];
  return { token, answer: { second_factor: { methods, expires_at: expiresAt } } };
}

/** Finds the second step of a browser; undefined for none, and once its user or password has changed. */
export async function findSecondStep(
  read: Pick<Readers, "factors" | "users">,
  cookies: string | undefined,
  secure: boolean,
  clock: Clock,
): Promise<PendingSignIn | undefined> {
  const token = parseCookie(cookies ?? "")[cookieName(secure)];
  if (token === undefined || !TOKEN.test(token)) return undefined;
  const challenge = await read.factors.findChallenge("sign_in", digestOf(token));
  if (challenge === undefined || challenge.expiresAt <= iso(clock.now())) return undefined;
  const user = await read.users.find(challenge.userId);
  return user !== undefined && isStillDue(user, challenge) ? { user, challenge } : undefined;
}

/**
 * Ends the second step, of which one of several requests succeeds, and reads the user again.
 * @throws AppError sign_in_expired
 */
export async function finishSecondStep(
  tx: Pick<Writers, "factors" | "users">,
  { challenge }: PendingSignIn,
): Promise<UserRecord> {
  const user = await tx.users.find(challenge.userId);
  const taken = await tx.factors.takeChallenge(challenge);
  if (!taken || user === undefined || !isStillDue(user, challenge)) throw signInExpired();
  return user;
}

/** The origin of a holder: a digest of the address. One customer may have all networks of an IPv6 /48. */
const originOf = (address: string): string =>
  digestOf(ipv6SiteOf(address) ?? networkOf(address))
    .toString("base64url")
    .slice(0, 22);

/** A deactivated user, and a password that was changed since, must not get in. */
const isStillDue = (user: UserRecord, { sealed }: FactorChallenge): boolean =>
  user.status === "active" && sealed !== null && passwordState(user).equals(sealed);

const passwordState = ({ passwordHash }: UserRecord): Buffer => digestOf(passwordHash ?? "");

export const signInExpired = (): AppError =>
  new AppError(
    "sign_in_expired",
    "This sign-in has expired, was finished already, or the account was changed. Sign in again with your password.",
  );
