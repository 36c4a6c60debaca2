/** Users, their sessions, keys and links, and the audit log, as interfaces. The rules of src/core/run-ports.ts hold. */
import type { Scope, Surface } from "../../schemas/actor.ts";
import type { AuthMode, LinkKind, UserRole, UserStatus } from "../../schemas/user.ts";
import type { KeyLimits, Visibility } from "./access.ts";
import type { Absence } from "./approval-assignment.ts";
import type { Notice } from "./mail-port.ts";
import type { ListPosition, Page } from "./model.ts";
import type { KeyApplication, RenewableKeys } from "./oauth-port.ts";
import type { Actor, Principal } from "./ports.ts";
import type { Applied } from "./transactions.ts";

/** An API key without its value, which is stored nowhere. */
export interface ApiKeyRecord {
  id: string;
  name: string;
  owner: string;
  lastFour: string;
  scopes: Scope[];
  lineage: string;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
  /** Ids of the projects that it belongs to. */
  projects: readonly string[];
  /** What it is limited to; null for nothing. */
  limits: KeyLimits | null;
  /** Null for an API key. */
  application: KeyApplication | null;
}

/** A key with the current role and status of its owner. */
export interface ApiKeyWithOwner extends ApiKeyRecord {
  /** Null for a key of `operator`, who is not a user; such a key is limited by its scopes only. */
  user: { role: UserRole; status: UserStatus } | null;
  /** Whether there was no project but the default one when it was read. */
  isSingleProject: boolean;
}

export type NewApiKey = Omit<ApiKeyRecord, "lastUsedAt" | "revokedAt"> & { digest: Buffer };

export interface ApiKeyReader {
  /** Finds a key by the SHA-256 digest of its value, also a revoked or expired one. */
  findByDigest(digest: Buffer): Promise<ApiKeyWithOwner | undefined>;
  find(id: string): Promise<ApiKeyWithOwner | undefined>;
  /** A key with those that it was rotated to, also revoked and expired ones; newest first. */
  ofLineage(lineage: string): Promise<ApiKeyWithOwner[]>;
  /** Newest first. */
  page(query: {
    filter: ApiKeyFilter;
    after: ListPosition | null;
    limit: number;
  }): Promise<Page<ApiKeyWithOwner>>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: ApiKeyFilter): Promise<number>;
}

export interface ApiKeyFilter {
  /** Left out, the keys of all owners. */
  owner?: string | undefined;
  /** Whether they belong to connected applications; left out, both. */
  application?: boolean | undefined;
}

/** Writes keys inside a transaction. The caller writes the audit entry. */
export interface ApiKeyWriter extends ApiKeyReader {
  /** Number of an owner's keys that are neither revoked nor expired at `at`. Locks the owner's keys until the end. */
  countActive(owner: string, at: string): Promise<number>;
  insert(key: NewApiKey): Promise<void>;
  /** Revokes a key. Of concurrent callers one gets true; false when the key was already revoked. */
  revoke(id: string, at: string): Promise<Applied>;
  /**
   * Inserts `next` and sets the expiry of the old key, unless the old one is revoked.
   *
   * Locks: the old key's row; a concurrent `revoke` or `rotate` of it waits.
   * @returns false when the old key is revoked; nothing was changed then
   */
  rotate(oldId: string, oldExpiresAt: string, next: NewApiKey): Promise<Applied>;
  /** Takes a project that is deleted from all keys, so that they don't belong to a later one with the same id. */
  leaveProject(project: string): Promise<void>;
}

/** Keys for the command line and for authentication: each change is a transaction of its own, with an audit entry. */
export interface ApiKeyStore extends RenewableKeys {
  findByDigest(digest: Buffer): Promise<ApiKeyWithOwner | undefined>;
  find(id: string): Promise<ApiKeyWithOwner | undefined>;
  list(): Promise<ApiKeyWithOwner[]>;
  insert(key: NewApiKey, actor: string): Promise<void>;
  revoke(id: string, at: string, actor: string): Promise<Applied>;
  rotate(oldId: string, oldExpiresAt: string, next: NewApiKey, actor: string): Promise<Applied>;
  /** Records the last use of each key (id → time), except where a use after `notAfter` is recorded. */
  touch(uses: ReadonlyMap<string, string>, notAfter: string): Promise<void>;
  /** The ids among these that are not valid at `at`: revoked, expired, deleted, or of an owner who is not active. */
  findInvalid(ids: readonly string[], at: string): Promise<string[]>;
}

/** A user. `email` is unique, in lower case and never changes, because keys, runs and approvals refer to it. */
export interface UserRecord {
  id: string;
  email: string;
  role: UserRole;
  status: UserStatus;
  /** In the format of scrypt-kdf; null until the user has chosen a password. */
  passwordHash: string | null;
  /**
   * `sign_on` when the identity provider decides the role, `default` when everyone gets the same one, null when an
   * admin decides it here.
   */
  roleSource: "sign_on" | "default" | null;
  /** When the address was verified, by a link in a mail or by the identity provider. */
  verifiedAt: string | null;
  createdAt: string;
  createdBy: string;
  lastLoginAt: string | null;
}

export interface UserReader {
  find(id: string): Promise<UserRecord | undefined>;
  /** @param email in lower case */
  findByEmail(email: string): Promise<UserRecord | undefined>;
  /** Whether there is any user. Until then the first visit creates the admin. */
  exists(): Promise<boolean>;
  /** Whether any user has signed in through an identity provider. */
  existsFromProvider(): Promise<boolean>;
  /** Sorted by e-mail address. @param query.filter.search part of the address, folded */
  page(query: { filter: UserFilter; after: ListPosition | null; limit: number }): Promise<Page<UserRecord>>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: UserFilter): Promise<number>;
  /** The absence that a person has set; undefined for none, and once it is over. @param now ISO 8601 */
  absenceOf(email: string, now: string): Promise<Absence | undefined>;
  /** The absences that have begun at a time and are not over, by address, at most 1,000. @param now ISO 8601 */
  absencesAt(now: string): Promise<Absence[]>;
  /** The absences that are not over at a time. @param now ISO 8601 */
  absencesAfter(now: string): Promise<Absence[]>;
}

export interface UserFilter {
  search?: string | undefined;
  status?: UserStatus | undefined;
  role?: UserRole | undefined;
}

export interface UserWriter extends UserReader {
  /** @throws AppError email_taken */
  insert(user: UserRecord): Promise<void>;
  /**
   * Inserts the first user. Of concurrent callers one succeeds (a unique constraint).
   * @throws AppError setup_done
   */
  insertFirst(user: UserRecord): Promise<void>;
  update(
    id: string,
    change: Partial<Omit<UserRecord, "id" | "email" | "createdAt" | "createdBy">>,
  ): Promise<void>;
  /** Sets the absence of a person, in place of the one before; null removes it. */
  setAbsence(email: string, absence: Omit<Absence, "email"> | null): Promise<void>;
  /**
   * Number of active admins.
   * Locks: their rows until the transaction ends, so that two admins can't remove each other.
   */
  countActiveAdmins(): Promise<number>;
}

/** How an identity provider identifies a user: issuer and subject (`sub`) together are unique and never change. */
interface IdentityKey {
  issuer: string;
  subject: string;
}

export interface IdentityReader {
  /** The id of the user with this identity. */
  find(identity: IdentityKey): Promise<string | undefined>;
}

export interface IdentityWriter extends IdentityReader {
  insert(identity: IdentityKey & { userId: string; createdAt: string }): Promise<void>;
  /** Whether the user has an identity of this issuer already. */
  has(userId: string, issuer: string): Promise<boolean>;
}

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

/** A link to set a password or verify an address. It works once. */
export interface LinkRecord {
  kind: LinkKind;
  /** Null for the setup link, because there is no user yet. */
  userId: string | null;
  createdAt: string;
  /** Null for a link that never expires; none is created so. */
  expiresAt: string | null;
}

export interface LinkReader {
  /** Finds an unused link by the SHA-256 digest of its token, also an expired one. */
  find(digest: Buffer): Promise<LinkRecord | undefined>;
}

export interface LinkWriter extends LinkReader {
  /** Inserts a link, and deletes some expired ones. */
  insert(link: LinkRecord & { digest: Buffer }): Promise<void>;
  /** Marks a link as used. Of concurrent callers one gets true; false when it was used before. Locks its row. */
  consume(digest: Buffer): Promise<Applied>;
  /** Deletes a user's links of these kinds. @param userId null for the setup link, which has no user */
  removeForUser(userId: string | null, kinds: readonly LinkKind[]): Promise<void>;
}

export interface AuditEntry {
  id: number;
  at: string;
  operation: string;
  target: string | null;
  /** The project of the target; the default one for what belongs to the whole instance. */
  project: string;
  owner: string;
  keyName: string | null;
  /** The key and the keys that it was rotated to; null in entries of releases before the hash chain. */
  lineage: string | null;
  surface: Surface;
  client: string;
  requestId: string | null;
  /** What else is on record: names and numbers, never values of runs or secrets. */
  details: AuditDetails | null;
  /** The link of the hash chain (src/core/audit-chain.ts); null in entries of releases before it. */
  hash: string | null;
}

/** Numbers are integers, which every JSON parser writes in one way. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface AuditFilter {
  /** Only entries of what a caller can find: null or left out, of everything. */
  visible?: Visibility | null | undefined;
  /** Only entries of this project. */
  project?: string | undefined;
  /** Each of these must occur in the operation, target, owner, key name or client. */
  searchTerms?: readonly string[] | undefined;
  owner?: string | undefined;
  operation?: string | undefined;
  target?: string | undefined;
  surface?: Surface | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

export interface AuditReader {
  /** Newest first. @param before only entries with a smaller id */
  page(query: { filter: AuditFilter; before: number | null; limit: number }): Promise<AuditEntry[]>;
  /** Oldest first. @param after only entries with a larger id */
  pageAfter(query: { filter: AuditFilter; after: number; limit: number }): Promise<AuditEntry[]>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: AuditFilter): Promise<number>;
}

/** A read of run values that is about to be answered. */
export interface ReadEntry {
  operation: string;
  /** The run, approval or workflow; null for a list. */
  target: string | null;
  /** Default: the project of the target. */
  project?: string | undefined;
  actor: Actor;
  requestId: string;
  details?: AuditDetails | undefined;
}

/**
 * Records a read in the audit log, and resolves when the record is committed: only then is the read answered.
 * @throws AppError busy, storage_unavailable
 */
export type RecordRead = (entry: ReadEntry) => Promise<void>;

/** For whom a mail counts: the caller of an operation, in a project. */
export interface MailSender {
  caller: Pick<Principal, "owner" | "keyName" | "lineage">;
  project: string;
}

/** Services for operations on accounts, besides the store: new secrets, and mail. */
export interface AccountsApi {
  /** How users sign in. */
  authMode: AuthMode;
  /** Whether mail can be sent. */
  mailEnabled: boolean;
  /** Creates a key's value and the record to store. @param lineage the lineage of the key that it replaces */
  newKey(
    key: Pick<NewApiKey, "name" | "owner" | "expiresAt" | "projects" | "limits"> &
      Partial<Pick<NewApiKey, "application">> & { scopes: readonly Scope[] },
    lineage?: string,
  ): { value: string; record: NewApiKey };
  /** Creates a link's token and the record to store. */
  newLink(kind: LinkKind, userId: string | null): { token: string; record: LinkRecord & { digest: Buffer } };
  /**
   * Sends a link by mail if mail is configured.
   * @param by the user who asked for it
   * @param sender for whom the mail counts; null for a request without a caller, which is throttled
   * @returns whether it was sent; if not, the caller shows the link to be delivered by hand
   */
  sendLink(
    kind: Exclude<LinkKind, "setup">,
    to: string,
    token: string,
    by: string,
    sender: MailSender | null,
  ): Promise<{ sent: boolean; link: string }>;
  /** The URL of a page of the web interface. @param path such as `/reviews/rev_8dkq2m0sfj3a` */
  pageUrl(path: string): Promise<string>;
  /** Mails these people, one after the other, if mail is configured. It never throws: what fails, or reaches a limit, is logged. */
  notify(to: readonly string[], notice: Notice, sender: MailSender): Promise<void>;
  /** Sessions not used since this time (ISO 8601) are not valid. */
  idleSince(): string;
}
