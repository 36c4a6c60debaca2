/** What the provider said of somebody who is signed in, asked again when it is old: by one copy at a time. */
import type { Request } from "express";
import { z } from "zod";
import type { Grant, OidcClient, SignOnResult } from "../../auth/oidc.ts";
import { OidcError } from "../../auth/oidc-errors.ts";
import { seal, sealingKey, unseal } from "../../auth/sealing.ts";
import { type CookieSession, principalOf, type AuthenticatedSession } from "../../auth/sessions.ts";
import { type SignOnPolicy, provisionUser } from "../../auth/sign-on.ts";
import { HOUR, iso, MINUTE } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { WriteIntent } from "../../core/ports.ts";
import type { Services } from "../invoke.ts";
import { browserNameOf } from "./authenticate.ts";

/** For how long more it counts while the provider is away. */
const GRACE_MS = HOUR;
/**
 * So long one copy has for asking, and is not asked again when it came to nothing. More than it can take (four answers of
 * 10 s at most, and a place in the store): who gave out a new refresh token takes the second use of an old one for theft.
 */
const TURN_MS = MINUTE;

const Kept = z.object({
  grant: z.object({ subject: z.string(), idToken: z.string(), refreshToken: z.string().optional() }),
  /** Until when somebody is asking, in milliseconds. */
  turnUntil: z.number().default(0),
});

/** Only who has the session's token can read it: the store has no more than the token's digest. */
const keyOf = (token: string): Buffer => sealingKey(token, "what a provider has given with a session");

export const sealGrant = (token: string, grant: Grant, turnUntil = 0): Buffer =>
  seal(keyOf(token), { grant, turnUntil });

function unsealKept(token: string, sealed: Buffer | null) {
  return sealed === null ? undefined : Kept.safeParse(unseal(keyOf(token), sealed)).data;
}

export const unsealGrant = (token: string, sealed: Buffer | null): Grant | undefined =>
  unsealKept(token, sealed)?.grant;

/** What the log and the audit log know of a request that does something to somebody's session. */
export const writeIntentOf = (
  operation: string,
  { user, session }: AuthenticatedSession,
  req: Request,
): WriteIntent => ({
  operation,
  actor: {
    principal: principalOf({ user, session }),
    client: { surface: "web", name: browserNameOf(req) },
  },
  requestId: req.res!.locals["requestId"] as string,
});

interface RenewalOptions {
  services: Pick<Services, "read" | "write" | "clock" | "log">;
  policy: SignOnPolicy;
  client: OidcClient;
  /** How old it may become. */
  refreshMs: number;
  /** Looks the request's session up again. */
  find(req: Request): Promise<CookieSession | undefined>;
}

/**
 * Gives who is signed in, by what the provider says now if that is due; undefined when the provider knows them no more,
 * or was away for too long: the session is ended then.
 */
export function claimsRefresher({ services, policy, client, refreshMs, find }: RenewalOptions) {
  const { read, write, clock, log } = services;
  const underWay = new Map<string, Promise<AuthenticatedSession | undefined>>();

  const ageOf = (claimsAt: string): number => clock.now() - Date.parse(claimsAt);

  return async function upToDate(
    found: CookieSession,
    req: Request,
  ): Promise<AuthenticatedSession | undefined> {
    // Begun with a password, before people came in through the provider.
    if (found.claimsAt === null) return undefined;
    const age = ageOf(found.claimsAt);
    if (age < refreshMs) return found;
    const isLate = age > refreshMs + GRACE_MS;
    const { id } = found.session;
    const asking = underWay.get(id);
    if (asking !== undefined) return isLate ? asking : found;
    const mine = renew(found, isLate, req).finally(() => underWay.delete(id));
    underWay.set(id, mine);
    return mine;
  };

  async function renew(
    found: CookieSession,
    isLate: boolean,
    req: Request,
  ): Promise<AuthenticatedSession | undefined> {
    const { session, token } = found;
    const claims = await read.sessions.claims(session.id);
    if (claims === undefined || claims.claimsAt === null) return undefined;
    if (ageOf(claims.claimsAt) < refreshMs) return find(req);
    const kept = unsealKept(token, claims.sealed);
    const refreshToken = kept?.grant.refreshToken;
    if (kept === undefined || refreshToken === undefined) return end(found, req, "its grant can't be read");
    if (kept.turnUntil > clock.now() || !(await takeTurn(kept.grant, claims.claimsAt))) {
      if (isLate) throw elsewhere();
      return found;
    }
    try {
      const signedOn = await client.refresh({ ...kept.grant, refreshToken });
      return await keep(signedOn, turnOf(claims.claimsAt));
    } catch (error) {
      if (error instanceof AppError && error.code === "sign_on_refused")
        return end(found, req, error.details.reason ?? error.code);
      if (!(error instanceof OidcError)) throw error;
      const isOver = error.kind === "code_expired" || error.kind === "not_verified";
      if (isOver || isLate) return end(found, req, error.message);
      log.warn(
        { session: session.id, issue: error.kind, reason: error.message },
        "the identity provider did not say anew who somebody is: what it said before goes on counting",
      );
      return found;
    }

    /** Each turn moves the moment by a millisecond, so of two copies that begin at once one does. */
    function takeTurn(grant: Grant, claimsAt: string): Promise<boolean> {
      const sealed = sealGrant(token, grant, clock.now() + TURN_MS);
      return write(writeIntentOf("renew_sign_on", found, req), (tx) =>
        tx.sessions.saveClaims(session.id, { sealed, claimsAt: turnOf(claimsAt) }, claimsAt),
      );
    }

    async function keep(
      { identity, grant }: SignOnResult,
      expected: string,
    ): Promise<AuthenticatedSession | undefined> {
      const renewed = await write(writeIntentOf("renew_sign_on", found, req), async (tx) => {
        const now = clock.now();
        const newClaims = { sealed: sealGrant(token, grant), claimsAt: iso(now) };
        // Ended meanwhile: then it stays so, and what was said before that gives nobody back what they have lost since.
        if (!(await tx.sessions.saveClaims(session.id, newClaims, expected))) return undefined;
        const user = await provisionUser(tx, policy, identity, now);
        return user instanceof AppError ? user : { session, user };
      });
      if (renewed instanceof AppError) throw renewed;
      return renewed;
    }
  }

  async function end(found: AuthenticatedSession, req: Request, reason: string): Promise<undefined> {
    await write(writeIntentOf("renew_sign_on", found, req), async (tx) => {
      if (await tx.sessions.end(found.session.id)) await tx.recordAudit(found.user.email, "ended");
    });
    log.warn({ session: found.session.id, reason }, "a session was ended: the provider stands by it no more");
  }
}

const turnOf = (claimsAt: string): string => iso(Date.parse(claimsAt) + 1);

const elsewhere = (): AppError =>
  new AppError("busy", "The identity provider is just being asked about you. Try again.", {
    headers: { "Retry-After": "1" },
  });
