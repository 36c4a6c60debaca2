/** The sessions of browsers, as interfaces. The rules of src/core/run-ports.ts hold. */
import type { UserRecord } from "./account-ports.ts";
import type { Applied } from "./transactions.ts";

/** The session of a browser. Its token is stored nowhere but in the browser's cookie. */
export interface SessionRecord {
  id: string;
  userId: string;
  createdAt: string;
  /** When it was last used, recorded at most once a minute. */
  lastSeenAt: string;
  /** When it ends, however often it is used. */
  expiresAt: string;
  client: string;
  address: string;
  /** Whether a load balancer holds the login. Its cookie may come back after the session's end, so the row stays. */
  external: boolean;
  /** When it was ended. Only external sessions have it: others are deleted. */
  endedAt: string | null;
  /** When the person last proved who they are, at the sign-in or again; null in sessions of older releases. */
  confirmedAt: string | null;
}

/** The identity provider's grant for a session, encrypted with the session's own token. */
interface SessionClaims {
  sealed: Buffer | null;
  /** When the grant was made; if it can't be renewed, the end of the session; null without a provider. */
  claimsAt: string | null;
}

export interface SessionReader {
  /** Finds a session, with its user, by the SHA-256 digest of its token. The caller checks whether it is valid. */
  findByDigest(
    digest: Buffer,
  ): Promise<(SessionRecord & Pick<SessionClaims, "claimsAt"> & { user: UserRecord }) | undefined>;
  find(id: string): Promise<SessionRecord | undefined>;
  /** The grant of a session; undefined when there is no such session. */
  claims(id: string): Promise<SessionClaims | undefined>;
  /** The valid sessions of a user, the last used first. @param idleSince sessions not used since are not valid */
  listByUser(userId: string, at: string, idleSince: string): Promise<SessionRecord[]>;
}

export interface SessionWriter extends SessionReader {
  insert(session: SessionRecord & { digest: Buffer }): Promise<void>;
  /** Records that the person has just proved who they are. */
  confirm(id: string): Promise<void>;
  /** Ends a session. @returns false when there was none */
  end(id: string): Promise<boolean>;
  /**
   * Replaces the grant of a session if `claimsAt` still has the expected value.
   *
   * Guarantee: of concurrent callers with the same expected value, one gets true.
   * Locks: the session's row, until the transaction ends.
   * @returns false when another copy has replaced it, or the session has ended; nothing was changed then
   */
  saveClaims(id: string, claims: SessionClaims, expected: string | null): Promise<Applied>;
  /** Ends all sessions of a user except one. @returns how many */
  endAllForUser(userId: string, except?: string): Promise<number>;
}

/** Sessions for authentication. Each write is a transaction of its own. */
export interface SessionStore extends SessionReader {
  /** Records the last use of each session (id → ISO 8601 time). */
  touch(uses: ReadonlyMap<string, string>): Promise<void>;
  /** The ids among these that are not valid at `at`: ended, expired, not used since `idleSince`, user not active. */
  findInvalid(ids: readonly string[], at: string, idleSince: string): Promise<string[]>;
  /** Deletes sessions that are not valid. */
  purge(at: string, idleSince: string): Promise<void>;
}
