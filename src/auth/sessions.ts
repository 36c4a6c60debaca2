/** Sessions of signed-in people: a random token in a cookie, its digest in the store, and two time limits. */
import type { IncomingHttpHeaders } from "node:http";
import { parseCookie, stringifySetCookie } from "cookie";
import type { SessionRecord, SessionStore, UserRecord } from "../core/account-ports.ts";
import { type Clock, iso, MINUTE } from "../core/clock.ts";
import { newSessionId } from "../core/ids.ts";
import { type Access, accessOfPerson, NO_MEMBERSHIPS, scopesOf } from "../core/access.ts";
import type { Principal } from "../core/ports.ts";
import type { ProjectRoles } from "../core/project-ports.ts";
import { digestOf, randomBase62 } from "./key-format.ts";

/** Minimum interval between two writes of a session's last use, per process, in milliseconds. */
const TOUCH_INTERVAL_MS = MINUTE;
/** A token has 190 bits, so a fast hash is enough for storage. */
const TOKEN = /^[0-9A-Za-z]{32}$/;

/** To which requests of a browser a cookie belongs. */
export interface CookieScope {
  /** Whether people use https. */
  secure: boolean;
  /** The path in front of those of the web server in its public URL; empty for none. */
  pathPrefix: string;
}

/**
 * What a cookie is called and where browsers send it. `__Host-` binds it to this host and to https; browsers refuse this prefix over
 * http and with a path (RFC 6265bis). Below a path it is not sent to the other applications of the host.
 */
export const cookieAttributes = (
  { secure, pathPrefix }: CookieScope,
  { name, plainName }: { name: string; plainName: string },
) => ({
  name: !secure ? plainName : pathPrefix === "" ? `__Host-${name}` : `__Secure-${name}`,
  path: pathPrefix || "/",
  secure,
  httpOnly: true,
});

const SESSION_COOKIE = { name: "millrace", plainName: "millrace_session" };

export interface SessionLimits {
  /** A session ends when it is unused for this long, in milliseconds. */
  idleMs: number;
  /** Maximum lifetime of a session, in milliseconds. */
  maxAgeMs: number;
}

/** A valid session and its user. */
export interface AuthenticatedSession {
  session: SessionRecord;
  user: UserRecord;
}

/** A valid session that was found by its cookie. */
export interface CookieSession extends AuthenticatedSession {
  token: string;
  /** When the identity provider last confirmed the user's claims (ISO 8601); null without a provider. */
  claimsAt: string | null;
}

export interface Sessions {
  /** Creates a session. The caller stores the record, with the user's id, in its own transaction. */
  create(client: string, address: string): { token: string; record: NewSession };
  /** Finds the valid session of a request's cookie. */
  findByCookie(headers: IncomingHttpHeaders, scope: CookieScope): Promise<CookieSession | undefined>;
  /** Finds a session and its user. `over`: it was ended, has expired, was idle for too long, or its user is not active. */
  findByDigest(digest: Buffer): Promise<(Omit<CookieSession, "token"> & { over: boolean }) | undefined>;
  /** What a user may see and do now. */
  accessOf(user: Pick<UserRecord, "email" | "role">): Promise<Access>;
  /** Returns those of the given sessions that are no longer valid. */
  findInvalid(ids: readonly string[], at?: number): Promise<string[]>;
  /** Sessions that were not used since this time (ISO 8601) are over. */
  idleCutoff(): string;
  /** Writes when sessions were last used, and deletes old ones. A timer calls it, never a request. */
  flush(): Promise<void>;
}

/** A session before it is stored; its user may be known only inside the transaction that stores it. */
export type NewSession = Omit<SessionRecord, "userId"> & { digest: Buffer };

export function openSessions(
  store: SessionStore,
  projects: ProjectRoles,
  clock: Clock,
  limits: SessionLimits,
): Sessions {
  const usedAt = new Map<string, number>();
  const writtenAt = new Map<string, number>();
  const idleCutoff = (): string => iso(clock.now() - limits.idleMs);
  const findByDigest: Sessions["findByDigest"] = async (digest) => {
    const found = await store.findByDigest(digest);
    if (found === undefined) return undefined;
    const { user, claimsAt, ...session } = found;
    // Includes uses that this process has not written yet.
    const seen = Math.max(Date.parse(session.lastSeenAt), usedAt.get(session.id) ?? 0);
    const over =
      session.endedAt !== null ||
      session.expiresAt <= iso(clock.now()) ||
      iso(seen) <= idleCutoff() ||
      user.status !== "active";
    if (!over) usedAt.set(session.id, clock.now());
    return { session, user, claimsAt, over };
  };
  return {
    findByDigest,

    create(client, address) {
      const token = randomBase62(32);
      const now = clock.now();
      const record = {
        id: newSessionId(),
        createdAt: iso(now),
        lastSeenAt: iso(now),
        expiresAt: iso(now + limits.maxAgeMs),
        client,
        address,
        external: false,
        endedAt: null,
      };
      return { token, record: { ...record, digest: digestOf(token) } };
    },

    async findByCookie(headers, scope) {
      const token = parseCookie(headers.cookie ?? "")[cookieAttributes(scope, SESSION_COOKIE).name];
      if (token === undefined || !TOKEN.test(token)) return undefined;
      const found = await findByDigest(digestOf(token));
      if (found === undefined || found.over) return undefined;
      const { session, user, claimsAt } = found;
      return { session, user, claimsAt, token };
    },

    async accessOf({ email, role }) {
      const isSingleProject = await projects.isSingle();
      const memberships = isSingleProject ? NO_MEMBERSHIPS : await projects.membershipsOf(email);
      return accessOfPerson({ role, memberships, isSingleProject });
    },

    findInvalid: (ids, at = clock.now()) => store.findInvalid(ids, iso(at), idleCutoff()),
    idleCutoff,

    async flush() {
      const now = clock.now();
      const due = [...usedAt].filter(([id]) => now - (writtenAt.get(id) ?? -Infinity) >= TOUCH_INTERVAL_MS);
      if (due.length > 0) await store.touch(new Map(due.map(([id, at]) => [id, iso(at)])));
      for (const [id, at] of due) {
        writtenAt.set(id, now);
        if (usedAt.get(id) === at) usedAt.delete(id);
      }
      for (const [id, at] of writtenAt) if (now - at > limits.idleMs) writtenAt.delete(id);
      await store.purge(iso(now), idleCutoff());
    },
  };
}

/** The principal of a signed-in user. */
export const principalOf = (
  { session, user }: { session: Pick<SessionRecord, "id">; user: UserRecord },
  access: Access,
): Principal => ({
  kind: "session",
  keyId: session.id,
  keyName: "browser",
  owner: user.email,
  scopes: scopesOf(access),
  access,
  lineage: user.id,
});

/** The `Set-Cookie` header that sets or deletes a session's token. Scripts cannot read it, and other sites cannot send it. */
export function sessionCookie(token: string | null, scope: CookieScope, limits: SessionLimits): string {
  return stringifySetCookie({
    ...cookieAttributes(scope, SESSION_COOKIE),
    value: token ?? "",
    sameSite: "strict",
    maxAge: token === null ? 0 : Math.floor(limits.maxAgeMs / 1_000),
  });
}

const BROWSERS = [
  [/\bEdgA?\/(\d+)/, "Edge"],
  [/\bOPR\/(\d+)/, "Opera"],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, "Firefox"],
  [/\b(?:Headless)?(?:Chrome|CriOS)\/(\d+)/, "Chrome"],
  [/\bVersion\/(\d+)[\d.]* (?:Mobile\/\w+ )?Safari\//, "Safari"],
] as const;
const SYSTEMS = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
] as const;

/** Returns a name such as `Firefox 145 on Linux`, so that people recognize their sessions; an unknown agent unchanged. */
export function browserName(userAgent: string): string {
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([mark]) => mark.test(userAgent))?.[1];
    return system === undefined ? `${name} ${version}` : `${name} ${version} on ${system}`;
  }
  return userAgent;
}
