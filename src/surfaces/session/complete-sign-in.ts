/** Completes a sign-in at an identity provider: creates or updates the user and starts the session, in one transaction. */
import { NO_ACCESS } from "../../core/access.ts";
import { AppError } from "../../core/errors.ts";
import { type Identity, type SignOnPolicy, provisionUser } from "../../auth/sign-on.ts";
import type { NewSession, AuthenticatedSession } from "../../auth/sessions.ts";
import type { Writers } from "../../core/ports.ts";
import type { Services } from "../invoke.ts";
import { sessionWriteIntent } from "./write-intent.ts";

/**
 * Provisions the user and starts the session, unless another request has started it already.
 * @param request the client and request id, for the audit log and the log
 * @param inTransaction runs in the same transaction, after the session was inserted
 * @throws AppError sign_on_refused, unauthorized (the session has ended), busy, storage_unavailable
 */
export async function completeSignIn(
  { write, clock }: Pick<Services, "write" | "clock">,
  policy: SignOnPolicy,
  identity: Identity,
  session: NewSession,
  request: { client: string; requestId: string },
  inTransaction: (tx: Writers, signedIn: AuthenticatedSession) => Promise<void> = async () => {},
): Promise<AuthenticatedSession> {
  const owner = identity.email ?? identity.subject;
  const principal = {
    kind: "session",
    keyId: session.id,
    keyName: "browser",
    owner,
    scopes: new Set<never>(),
    access: NO_ACCESS,
    lineage: identity.subject,
  } as const;
  const signedIn = await write(sessionWriteIntent("sign_in", principal, request), async (tx) => {
    const user = await provisionUser(tx, policy, identity, clock.now());
    if (user instanceof AppError) return user;
    const existing = await tx.sessions.findByDigest(session.digest);
    if (existing !== undefined) {
      // A concurrent request has started it.
      if (existing.endedAt !== null) throw signOnEndedError();
      return { user, session: existing };
    }
    const record = { ...session, userId: user.id };
    await tx.sessions.insert(record);
    await tx.users.update(user.id, { lastLoginAt: session.lastSeenAt });
    await tx.recordAudit(user.email);
    const { digest: _, ...started } = record;
    await inTransaction(tx, { user, session: started });
    return { user, session: started };
  });
  if (signedIn instanceof AppError) throw signedIn;
  return signedIn;
}

/** The error for a sign-in at the load balancer that is used after its session here has ended. */
export const signOnEndedError = (): AppError =>
  new AppError("unauthorized", "This sign-in has ended. Sign out (/logout), then sign in again.");
