/** People, their sessions and keys, and what was done, as interfaces: the store and the sign-in meet here. */
import type { Scope, Surface } from "../../schemas/actor.ts";
import type { AuthMode, LinkKind, Role, UserStatus } from "../../schemas/user.ts";
import type { ListPosition, Page } from "./model.ts";

/** An API key as it is kept: never its value. */
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
}

/** A key as a request meets it: with what its owner may do now. */
export interface ApiKeyWithOwner extends ApiKeyRecord {
  /** Null for a key of `operator`, who is no user and may do all that the key may. */
  user: { role: Role; status: UserStatus } | null;
}

export type NewApiKey = Omit<ApiKeyRecord, "lastUsedAt" | "revokedAt"> & { digest: Buffer };

export interface ApiKeyReader {
  /** By SHA-256 digest, dead or alive. */
  findByDigest(digest: Buffer): Promise<ApiKeyWithOwner | undefined>;
  find(id: string): Promise<ApiKeyWithOwner | undefined>;
  /** Newest first. @param filter.owner only this one's; left out, everybody's */
  page(query: {
    filter: { owner?: string | undefined };
    after: ListPosition | null;
    limit: number;
  }): Promise<Page<ApiKeyWithOwner>>;
  count(filter: { owner?: string | undefined }): Promise<number>;
}

/** Inside a write transaction. What they change is audited by who calls them. */
export interface ApiKeyWriter extends ApiKeyReader {
  /** How many of an owner's keys are neither revoked nor expired at `at`. */
  countActive(owner: string, at: string): Promise<number>;
  insert(key: NewApiKey): Promise<void>;
  /** Marks it revoked; false when it was already. */
  revoke(id: string, at: string): Promise<boolean>;
  /** Adds `next` and lets the old key live until `oldExpiresAt`; false, and nothing done, when it is revoked. */
  rotate(oldId: string, oldExpiresAt: string, next: NewApiKey): Promise<boolean>;
}

/** Keys as the command line and the door use them: each change in a transaction of its own, and audited. */
export interface ApiKeyStore {
  findByDigest(digest: Buffer): Promise<ApiKeyWithOwner | undefined>;
  list(): Promise<ApiKeyWithOwner[]>;
  insert(key: NewApiKey, actor: string): Promise<void>;
  revoke(id: string, at: string, actor: string): Promise<boolean>;
  rotate(oldId: string, oldExpiresAt: string, next: NewApiKey, actor: string): Promise<boolean>;
  /** Writes the last use of each key (id → moment) unless it is known of a use after `notAfter`. */
  touch(uses: ReadonlyMap<string, string>, notAfter: string): Promise<void>;
  /** Which of these keys are dead at `at` (revoked, expired, gone, or of an owner who is not active). */
  findInvalid(ids: readonly string[], at: string): Promise<string[]>;
}

/** Somebody who signs in. `email` is unique, in lower case, never changed: keys, runs and approvals name it. */
export interface UserRecord {
  id: string;
  email: string;
  role: Role;
  status: UserStatus;
  /** As scrypt-kdf writes it; null until one was chosen. */
  passwordHash: string | null;
  /**
   * `sign_on` where the role follows from what the identity provider says, `default` where it is the one for everybody;
   * null where an admin decides it here.
   */
  roleSource: "sign_on" | "default" | null;
  /** When a link in a mail to the address was opened, or the identity provider said that it is theirs. */
  verifiedAt: string | null;
  createdAt: string;
  createdBy: string;
  lastLoginAt: string | null;
}

export interface UserReader {
  find(id: string): Promise<UserRecord | undefined>;
  /** @param email in lower case */
  findByEmail(email: string): Promise<UserRecord | undefined>;
  /** Whether there is any: until then the first visit makes the admin. */
  exists(): Promise<boolean>;
  /** Whether an identity provider has let anybody in. */
  existsFromProvider(): Promise<boolean>;
  /** By e-mail address. @param filter.search a part of the address, in lower case */
  page(query: { filter: UserFilter; after: ListPosition | null; limit: number }): Promise<Page<UserRecord>>;
  count(filter: UserFilter): Promise<number>;
}

export interface UserFilter {
  search?: string | undefined;
  status?: UserStatus | undefined;
  role?: Role | undefined;
}

export interface UserWriter extends UserReader {
  /** @throws AppError email_taken */
  insert(user: UserRecord): Promise<void>;
  /**
   * Makes the first user. A unique row makes sure that there is one only, whoever else tries at the same time.
   * @throws AppError setup_done
   */
  insertFirst(user: UserRecord): Promise<void>;
  update(
    id: string,
    change: Partial<Omit<UserRecord, "id" | "email" | "createdAt" | "createdBy">>,
  ): Promise<void>;
  /** Active admins: the last of them is never taken away. */
  countActiveAdmins(): Promise<number>;
}

/** Somebody as an identity provider knows them: its issuer and its unchanging `sub` together are unique. */
interface IdentityKey {
  issuer: string;
  subject: string;
}

export interface IdentityReader {
  /** Whose it is: the user's id. */
  find(identity: IdentityKey): Promise<string | undefined>;
}

export interface IdentityWriter extends IdentityReader {
  insert(identity: IdentityKey & { userId: string; createdAt: string }): Promise<void>;
  /** Whether the user has an identity of this issuer already. */
  has(userId: string, issuer: string): Promise<boolean>;
}

/** A browser that is signed in; the token itself is nowhere but in its cookie. */
export interface SessionRecord {
  id: string;
  userId: string;
  createdAt: string;
  /** When it was last used, written at most once a minute. */
  lastSeenAt: string;
  /** When it ends, whatever it is used for. */
  expiresAt: string;
  client: string;
  address: string;
  /** A login kept elsewhere (at a load balancer), which may show itself again after its end: its row outlives it. */
  external: boolean;
  /** When it was ended; only of external ones, others are gone then. */
  endedAt: string | null;
}

/** What came with the session from an identity provider, sealed with the session's own token. */
interface SessionClaims {
  sealed: Buffer | null;
  /** When; the session's end where nothing newer can come; null where no provider was asked. */
  claimsAt: string | null;
}

export interface SessionReader {
  /** By SHA-256 digest of its token, with its user; whether it is alive is for who asks to say. */
  findByDigest(
    digest: Buffer,
  ): Promise<(SessionRecord & Pick<SessionClaims, "claimsAt"> & { user: UserRecord }) | undefined>;
  find(id: string): Promise<SessionRecord | undefined>;
  /** What came with it; undefined when there is no such session. */
  claims(id: string): Promise<SessionClaims | undefined>;
  /** Those of a user that are not over, newest use first. @param idleSince those not seen since are over */
  listByUser(userId: string, at: string, idleSince: string): Promise<SessionRecord[]>;
}

export interface SessionWriter extends SessionReader {
  insert(session: SessionRecord & { digest: Buffer }): Promise<void>;
  /** Ends one; false when there was none. */
  end(id: string): Promise<boolean>;
  /**
   * Replaces what came with it.
   * @param expected when the present claims came: false, and nothing done, when they are others by now
   */
  saveClaims(id: string, claims: SessionClaims, expected: string | null): Promise<boolean>;
  /** Ends all of a user's, but for one. */
  endAllForUser(userId: string, except?: string): Promise<number>;
}

/** Sessions as the door uses them. */
export interface SessionStore extends SessionReader {
  /** Writes when each was last used (id → moment). */
  touch(uses: ReadonlyMap<string, string>): Promise<void>;
  /** Which of these are over at `at`: ended, expired, idle since before `idleSince`, or of somebody not active. */
  findInvalid(ids: readonly string[], at: string, idleSince: string): Promise<string[]>;
  /** Clears those that are over away. */
  purge(at: string, idleSince: string): Promise<void>;
}

/** A link in a mail, or one handed on: it works once. */
export interface LinkRecord {
  kind: LinkKind;
  /** Null for setup: nobody is there yet. */
  userId: string | null;
  createdAt: string;
  /** Null for without an end: none is made so. */
  expiresAt: string | null;
}

export interface LinkReader {
  /** By SHA-256 digest of its token, unless it was used up; expired ones too. */
  find(digest: Buffer): Promise<LinkRecord | undefined>;
}

export interface LinkWriter extends LinkReader {
  /** Adds one, and clears some expired ones away. */
  insert(link: LinkRecord & { digest: Buffer }): Promise<void>;
  /** Uses it up: false when it was already. */
  consume(digest: Buffer): Promise<boolean>;
  /** Takes back a user's links of these kinds; for `null` those of nobody. */
  removeForUser(userId: string | null, kinds: readonly LinkKind[]): Promise<void>;
}

/** How often something was tried within a window of time: the same on every copy. */
export interface RateLimitCounter {
  /** How often each was tried in its present window, and when that ends (ms); 0 for one that was not. */
  read(keys: readonly string[], now: number): Promise<{ count: number; endsAt: number }[]>;
  /** Counts one more for each, all or none, and gives the new counts. A window begins with its first attempt. */
  increment(
    keys: readonly { key: string; windowMs: number }[],
    now: number,
  ): Promise<{ count: number; endsAt: number }[]>;
  /** Takes one off each, never below 0, unless its window is over: `endsAt` says which one it was counted in. */
  refund(counted: readonly { key: string; endsAt: number }[]): Promise<void>;
  /** Forgets them: it went well. */
  clear(keys: readonly string[]): Promise<void>;
}

export interface AuditEntry {
  id: number;
  at: string;
  operation: string;
  target: string | null;
  owner: string;
  keyName: string | null;
  surface: Surface;
  client: string;
  requestId: string | null;
}

export interface AuditFilter {
  /** Words that stand in the operation, target, owner, key's name or client. */
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
  count(filter: AuditFilter): Promise<number>;
}

/** What operations on accounts need beside the store: secrets that are made here, and the post. */
export interface AccountsApi {
  /** How people sign in here. */
  authMode: AuthMode;
  /** Whether mail can be sent. */
  mailEnabled: boolean;
  /** Makes a key's value and what is stored of it. @param lineage of the key that it replaces */
  newKey(
    key: { name: string; owner: string; scopes: readonly Scope[]; expiresAt: string | null },
    lineage?: string,
  ): { value: string; record: NewApiKey };
  /** Makes a link's token and what is stored of it. */
  newLink(kind: LinkKind, userId: string | null): { token: string; record: LinkRecord & { digest: Buffer } };
  /**
   * Sends a link by mail where that is possible.
   * @param by who asked for it
   * @returns whether it was sent, and the link for who must hand it on otherwise
   */
  sendLink(
    kind: Exclude<LinkKind, "setup">,
    to: string,
    token: string,
    by: string,
  ): Promise<{ sent: boolean; link: string }>;
  /** Sessions not used since this moment (ISO 8601) are over. */
  idleSince(): string;
}
