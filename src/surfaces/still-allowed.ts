/** Whether a request may still do what it could when it began: some take longer than it takes to revoke their key. */
import { type Access, includesAccess } from "../core/access.ts";
import { type Clock, SECOND } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { Principal } from "../core/ports.ts";

/** How long the access of its beginning holds for a request, in milliseconds: about as long as for open streams. */
const HOLDS_MS = SECOND;

/** What is known of the keys and sessions of callers. */
export interface Callers {
  /**
   * The ids of revoked and expired keys and sessions among these.
   * @param at the time at which they must not have expired, in milliseconds; by default now
   */
  findInvalid(ids: readonly string[], at?: number): Promise<string[]>;
  /** What a key or session may see and do now; undefined when it does not exist. */
  accessOf(id: string): Promise<Access | undefined>;
}

/**
 * Returns a check of a caller, which does nothing while the request is young.
 * @throws AppError (the check) unauthorized for a key or session that is no longer valid, missing_scope where it may do less
 */
export function stillAllowed(
  callers: Callers,
  { keyId, access }: Pick<Principal, "keyId" | "access">,
  clock: Pick<Clock, "now">,
): () => Promise<void> {
  const beganAt = clock.now();
  return async () => {
    if (clock.now() - beganAt < HOLDS_MS) return;
    // Not one that has only expired meanwhile: a client renews its token then, and would start the same once more.
    const invalid = await callers.findInvalid([keyId], beganAt);
    const now = await callers.accessOf(keyId);
    if (invalid.length > 0 || now === undefined)
      throw new AppError(
        "unauthorized",
        "The key or session of this request became invalid while it ran. What it had not written by then is not written.",
      );
    if (!includesAccess(now, access))
      throw new AppError(
        "missing_scope",
        "The rights of this key or session were reduced while the request ran. What it had not written by then is not " +
          "written. Send it again to learn what is allowed now.",
      );
  };
}
