/** Sessions of people who are signed in: a random token in a cookie, its digest in the store, two limits of time. */
import type { IncomingHttpHeaders } from "node:http";
import { parseCookie, stringifySetCookie } from "cookie";
import { ROLE_SCOPES } from "../../schemas/user.ts";
import type { SessionRecord, SessionStore, UserRecord } from "../core/account-ports.ts";
import { type Clock, iso, MINUTE } from "../core/clock.ts";
import { newSessionId } from "../core/ids.ts";
import type { Principal } from "../core/ports.ts";
import { digestOf, randomBase62 } from "./key-format.ts";

/** Seen is written at most once in this time per session and process. */
const TOUCH_EVERY = MINUTE;
/** 190 bits: nobody guesses one, and a fast hash of it is enough. */
const TOKEN = /^[0-9A-Za-z]{32}$/;

/** `__Host-` binds a cookie to this host and to https; browsers refuse the prefix on plain http (RFC 6265bis). */
const nameOf = (secure: boolean): string => (secure ? "__Host-millrace" : "millrace_session");

export interface SessionLimits {
  /** How long it may go unused, in milliseconds. */
  idleMs: number;
  /** How long it may last at all, in milliseconds. */
  maxAgeMs: number;
}

/** A living session and whose it is. */
export interface AuthenticatedSession {
  session: SessionRecord;
  user: UserRecord;
}

/** The same by its cookie. */
export interface CookieSession extends AuthenticatedSession {
  token: string;
  /** How new it is what an identity provider said of them; null where none did. */
  claimsAt: string | null;
}

export interface Sessions {
  /** Makes one; it is for the caller to store the record, with whose it is, in the transaction that it belongs to. */
  create(client: string, address: string): { token: string; record: NewSession };
  /** The living session that a request's cookie names. @param secure whether it came by https */
  findByCookie(headers: IncomingHttpHeaders, secure: boolean): Promise<CookieSession | undefined>;
  /** The session with this digest and whose it is, and whether it is over: ended, expired or idle for too long, or its user not active. */
  findByDigest(digest: Buffer): Promise<(Omit<CookieSession, "token"> & { over: boolean }) | undefined>;
  /** Which of these are over by now. */
  findInvalid(ids: readonly string[]): Promise<string[]>;
  /** Those not used since this moment (ISO 8601) are over. */
  idleCutoff(): string;
  /** Writes when sessions were last used, and clears old ones away; called by a timer, never by a request. */
  flush(): Promise<void>;
}

/** A session to begin: whose it is may be known only inside the transaction that stores it. */
export type NewSession = Omit<SessionRecord, "userId"> & { digest: Buffer };

export function openSessions(store: SessionStore, clock: Clock, limits: SessionLimits): Sessions {
  const usedAt = new Map<string, number>();
  const writtenAt = new Map<string, number>();
  const idleCutoff = (): string => iso(clock.now() - limits.idleMs);
  const findByDigest: Sessions["findByDigest"] = async (digest) => {
    const found = await store.findByDigest(digest);
    if (found === undefined) return undefined;
    const { user, claimsAt, ...session } = found;
    // What this process has seen and not written yet counts too.
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

    async findByCookie(headers, secure) {
      const token = parseCookie(headers.cookie ?? "")[nameOf(secure)];
      if (token === undefined || !TOKEN.test(token)) return undefined;
      const found = await findByDigest(digestOf(token));
      if (found === undefined || found.over) return undefined;
      const { session, user, claimsAt } = found;
      return { session, user, claimsAt, token };
    },

    findInvalid: (ids) => store.findInvalid(ids, iso(clock.now()), idleCutoff()),
    idleCutoff,

    async flush() {
      const now = clock.now();
      const due = [...usedAt].filter(([id]) => now - (writtenAt.get(id) ?? -Infinity) >= TOUCH_EVERY);
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

/** Who acts when somebody who is signed in does. */
export const principalOf = ({
  session,
  user,
}: {
  session: Pick<SessionRecord, "id">;
  user: UserRecord;
}): Principal => ({
  kind: "session",
  keyId: session.id,
  keyName: "browser",
  owner: user.email,
  scopes: new Set(ROLE_SCOPES[user.role]),
  lineage: user.id,
});

/** The `Set-Cookie` that carries a session's token, or takes it away. Scripts can't read it, other sites can't send it. */
export function sessionCookie(token: string | null, secure: boolean, limits: SessionLimits): string {
  return stringifySetCookie({
    name: nameOf(secure),
    value: token ?? "",
    path: "/",
    httpOnly: true,
    secure,
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

/** `Firefox 145 on Linux`, so that people know their sessions apart; what it does not know it gives as it is. */
export function browserName(userAgent: string): string {
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([mark]) => mark.test(userAgent))?.[1];
    return system === undefined ? `${name} ${version}` : `${name} ${version} on ${system}`;
  }
  return userAgent;
}
