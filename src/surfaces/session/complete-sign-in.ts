/** Somebody whom an identity provider vouches for comes in: the user and the session, in one transaction. */
import { AppError } from "../../core/errors.ts";
import { type Identity, type SignOnPolicy, provisionUser } from "../../auth/sign-on.ts";
import type { NewSession, AuthenticatedSession } from "../../auth/sessions.ts";
import type { Writers } from "../../core/ports.ts";
import type { Services } from "../invoke.ts";

/**
 * Takes somebody in and begins the session, unless it has begun meanwhile.
 * @param at what the audit log and the log shall know of the request
 * @param also what else belongs to it
 * @throws AppError sign_on_refused, unauthorized (it has ended meanwhile), busy, storage_unavailable
 */
export async function completeSignIn(
  { write, clock }: Pick<Services, "write" | "clock">,
  policy: SignOnPolicy,
  identity: Identity,
  session: NewSession,
  at: { client: string; requestId: string },
  also: (tx: Writers, arrived: AuthenticatedSession) => Promise<void> = async () => {},
): Promise<AuthenticatedSession> {
  const owner = identity.email ?? identity.subject;
  const principal = {
    kind: "session",
    keyId: session.id,
    keyName: "browser",
    owner,
    scopes: new Set<never>(),
    lineage: identity.subject,
  } as const;
  const intent = {
    operation: "sign_in",
    actor: { principal, client: { surface: "web", name: at.client } },
    requestId: at.requestId,
  } as const;
  const arrived = await write(intent, async (tx) => {
    const user = await provisionUser(tx, policy, identity, clock.now());
    if (user instanceof AppError) return user;
    const begun = await tx.sessions.findByDigest(session.digest);
    if (begun !== undefined) {
      // While this one waited for its turn.
      if (begun.endedAt !== null) throw signOnEndedError();
      return { user, session: begun };
    }
    const record = { ...session, userId: user.id };
    await tx.sessions.insert(record);
    await tx.users.update(user.id, { lastLoginAt: session.lastSeenAt });
    await tx.recordAudit(user.email);
    const { digest: _, ...begins } = record;
    await also(tx, { user, session: begins });
    return { user, session: begins };
  });
  if (arrived instanceof AppError) throw arrived;
  return arrived;
}

/** A login that is kept elsewhere shows itself again after its end. */
export const signOnEndedError = (): AppError =>
  new AppError("unauthorized", "This sign-on has ended. Sign out (/logout), and sign in again.");
