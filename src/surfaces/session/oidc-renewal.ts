/** Refreshes the claims of signed-in users at the identity provider, on one copy of the server at a time. */
import type { Request } from "express";
import { z } from "zod";
import type { Grant, OidcClient, SignOnResult } from "../../auth/oidc.ts";
import { OidcError } from "../../auth/oidc-errors.ts";
import { seal, sealingKey, unseal } from "../../auth/sealing.ts";
import type { CookieSession, AuthenticatedSession } from "../../auth/sessions.ts";
import { type SignOnPolicy, provisionUser } from "../../auth/sign-on.ts";
import { HOUR, iso, MINUTE } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Services } from "../invoke.ts";
import { signedInWriteIntent } from "./write-intent.ts";

/** How long expired claims are accepted while the provider can't be reached, in milliseconds. */
const GRACE_MS = HOUR;
/**
 * How long one copy holds the lock of a refresh, and the pause after a failed one, in milliseconds. It is longer than a
 * refresh can take (four responses of at most 10 s, and a write), because providers treat the second use of a refresh
 * token as theft.
 */
const LOCK_MS = MINUTE;

const StoredGrant = z.object({
  grant: z.object({ subject: z.string(), idToken: z.string(), refreshToken: z.string().optional() }),
  /** The end of the lock of a refresh, in milliseconds since 1970. */
  turnUntil: z.number().default(0),
});

/**
 * Derives the key from the session's token. The store has only the token's digest, so it can't decrypt the grant. The
 * text is part of the derivation: a change would make all stored grants unreadable.
 */
const keyOf = (token: string): Buffer => sealingKey(token, "what a provider has given with a session");

/** @param turnUntil the end of the lock of a refresh, in milliseconds since 1970; 0 for none */
export const sealGrant = (token: string, grant: Grant, turnUntil = 0): Buffer =>
  seal(keyOf(token), { grant, turnUntil });

function unsealStored(token: string, sealed: Buffer | null) {
  return sealed === null ? undefined : StoredGrant.safeParse(unseal(keyOf(token), sealed)).data;
}

export const unsealGrant = (token: string, sealed: Buffer | null): Grant | undefined =>
  unsealStored(token, sealed)?.grant;

interface RenewalOptions {
  services: Pick<Services, "read" | "write" | "clock" | "log">;
  policy: SignOnPolicy;
  client: OidcClient;
  /** Maximum age of the claims, in milliseconds. */
  refreshMs: number;
  /** Reads the request's session again. */
  find(req: Request): Promise<CookieSession | undefined>;
}

/**
 * Creates a function that returns the signed-in user of a session and refreshes the claims when they are due. It returns
 * undefined, and ends the session, when the provider refuses the user or can't be reached for too long.
 */
export function claimsRefresher({ services, policy, client, refreshMs, find }: RenewalOptions) {
  const { read, write, clock, log } = services;
  const refreshes = new Map<string, Promise<AuthenticatedSession | undefined>>();

  const ageOf = (claimsAt: string): number => clock.now() - Date.parse(claimsAt);

  return async function upToDate(
    found: CookieSession,
    req: Request,
  ): Promise<AuthenticatedSession | undefined> {
    // The session began with a password, before the mode was changed.
    if (found.claimsAt === null) return undefined;
    const age = ageOf(found.claimsAt);
    if (age < refreshMs) return found;
    const isLate = age > refreshMs + GRACE_MS;
    const { id } = found.session;
    const running = refreshes.get(id);
    if (running !== undefined) return isLate ? running : found;
    const refresh = renew(found, isLate, req).finally(() => refreshes.delete(id));
    refreshes.set(id, refresh);
    return refresh;
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
    const stored = unsealStored(token, claims.sealed);
    const refreshToken = stored?.grant.refreshToken;
    if (stored === undefined || refreshToken === undefined)
      return end(found, req, "the grant can't be decrypted");
    if (stored.turnUntil > clock.now() || !(await lockRefresh(stored.grant, claims.claimsAt))) {
      if (isLate) throw refreshRunning();
      return found;
    }
    try {
      const signedOn = await client.refresh({ ...stored.grant, refreshToken });
      return await saveClaims(signedOn, nextMillisecond(claims.claimsAt));
    } catch (error) {
      if (error instanceof AppError && error.code === "sign_on_refused")
        return end(found, req, error.details.reason ?? error.code);
      if (!(error instanceof OidcError)) throw error;
      const isOver = error.kind === "code_expired" || error.kind === "not_verified";
      if (isOver || isLate) return end(found, req, error.message);
      log.warn(
        { session: session.id, code: error.kind, reason: error.message },
        "claims not refreshed, the earlier ones stay in use",
      );
      return found;
    }

    /** Each lock moves `claimsAt` by a millisecond, so that of two copies only one gets it. */
    function lockRefresh(grant: Grant, claimsAt: string): Promise<boolean> {
      const sealed = sealGrant(token, grant, clock.now() + LOCK_MS);
      return write(signedInWriteIntent("renew_sign_on", found, req), (tx) =>
        tx.sessions.saveClaims(session.id, { sealed, claimsAt: nextMillisecond(claimsAt) }, claimsAt),
      );
    }

    async function saveClaims(
      { identity, grant }: SignOnResult,
      expected: string,
    ): Promise<AuthenticatedSession | undefined> {
      const renewed = await write(signedInWriteIntent("renew_sign_on", found, req), async (tx) => {
        const now = clock.now();
        const newClaims = { sealed: sealGrant(token, grant), claimsAt: iso(now) };
        // If the session has ended meanwhile, the claims must not restore rights that the user has lost since.
        if (!(await tx.sessions.saveClaims(session.id, newClaims, expected))) return undefined;
        const user = await provisionUser(tx, policy, identity, now);
        return user instanceof AppError ? user : { session, user };
      });
      if (renewed instanceof AppError) throw renewed;
      return renewed;
    }
  }

  async function end(found: AuthenticatedSession, req: Request, reason: string): Promise<undefined> {
    await write(signedInWriteIntent("renew_sign_on", found, req), async (tx) => {
      if (await tx.sessions.end(found.session.id)) await tx.recordAudit(found.user.email, "ended");
    });
    log.warn({ session: found.session.id, reason }, "session ended by the identity provider");
  }
}

const nextMillisecond = (claimsAt: string): string => iso(Date.parse(claimsAt) + 1);

const refreshRunning = (): AppError =>
  new AppError("busy", "Your sign-in is being refreshed at the identity provider. Try again.", {
    headers: { "Retry-After": "1" },
  });
