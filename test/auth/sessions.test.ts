import { describe, expect, it, vi } from "vitest";
import { digestOf } from "../../src/auth/key-format.ts";
import { browserName, openSessions, principalOf, sessionCookie } from "../../src/auth/sessions.ts";
import type { SessionStore } from "../../src/core/account-ports.ts";
import { accessEverywhere } from "../../src/core/access.ts";
import { DAY, HOUR, iso, MINUTE } from "../../src/core/clock.ts";
import type { ProjectRoles } from "../../src/core/project-ports.ts";
import { fakeClock } from "../support/clock.ts";

const LIMITS = { idleMs: 2 * HOUR, maxAgeMs: 7 * DAY };
const TOKEN = "t".repeat(32);
const HTTPS = { secure: true, pathPrefix: "" };
const HTTP = { secure: false, pathPrefix: "" };

type Found = NonNullable<Awaited<ReturnType<SessionStore["findByDigest"]>>>;

const cookieOf = (token = TOKEN, name = "millrace_session") => ({ cookie: `theme=dark; ${name}=${token}` });

/** Sessions over a store that holds one session, of `TOKEN`. */
function oneSession(changes: Partial<Found> = {}, roles: Partial<ProjectRoles> = {}) {
  const clock = fakeClock();
  const now = iso(clock.now());
  const found: Found = {
    id: "ses_1",
    userId: "usr_1",
    createdAt: now,
    lastSeenAt: now,
    expiresAt: iso(clock.now() + LIMITS.maxAgeMs),
    client: "Firefox 145 on Linux",
    address: "192.0.2.1",
    external: false,
    endedAt: null,
    claimsAt: null,
    user: {
      id: "usr_1",
      email: "ann@example.com",
      role: "editor",
      roleSource: null,
      status: "active",
      passwordHash: null,
      verifiedAt: now,
      createdAt: now,
      createdBy: "operator",
      lastLoginAt: null,
    },
    ...changes,
  };
  const store = {
    findByDigest: vi.fn<SessionStore["findByDigest"]>(async (digest) =>
      digest.equals(digestOf(TOKEN)) ? found : undefined,
    ),
    touch: vi.fn<SessionStore["touch"]>(async () => {}),
    findInvalid: vi.fn<SessionStore["findInvalid"]>(async () => ["ses_9"]),
    purge: vi.fn<SessionStore["purge"]>(async () => {}),
  };
  const projects = {
    isSingle: async () => false,
    membershipsOf: async () => new Map([["sales", "viewer" as const]]),
    ...roles,
  };
  const sessions = openSessions(store as unknown as SessionStore, projects, clock, LIMITS);
  return {
    sessions,
    store,
    clock,
    found,
    cookie: cookieOf,
    find: () => sessions.findByCookie(cookieOf(), HTTP),
  };
}

describe("a new session", () => {
  it("has a token of its own, of which the record holds only the digest, and both of its limits", () => {
    const { sessions, clock } = oneSession();
    const { token, record } = sessions.create("Firefox 145 on Linux", "192.0.2.1");
    expect(token).toMatch(/^[0-9A-Za-z]{32}$/);
    expect(sessions.create("", "").token).not.toBe(token);
    expect(record).toEqual({
      id: expect.stringMatching(/^ses_/),
      createdAt: iso(clock.now()),
      lastSeenAt: iso(clock.now()),
      expiresAt: iso(clock.now() + 7 * DAY),
      client: "Firefox 145 on Linux",
      address: "192.0.2.1",
      external: false,
      endedAt: null,
      digest: digestOf(token),
    });
  });
});

describe("the session of a cookie", () => {
  it("is found with its user and its token", async () => {
    const { find, found } = oneSession({ claimsAt: "2026-11-21T07:00:00.000Z" });
    const { user, claimsAt, ...session } = found;
    expect(await find()).toEqual({ session, user, claimsAt, token: TOKEN });
  });

  it("is bound to https by the name of the cookie", async () => {
    const { sessions, cookie } = oneSession();
    expect(await sessions.findByCookie(cookie(TOKEN, "__Host-millrace"), HTTPS)).toMatchObject({
      token: TOKEN,
    });
    expect(await sessions.findByCookie(cookie(TOKEN, "__Host-millrace"), HTTP)).toBeUndefined();
    expect(await sessions.findByCookie(cookie(), HTTPS)).toBeUndefined();
  });

  it.each(["", "x".repeat(32), "t".repeat(31), "t".repeat(33), `${"t".repeat(31)}-`])(
    "is not found for the token %j",
    async (token) => {
      const { sessions, cookie } = oneSession();
      expect(await sessions.findByCookie(cookie(token), HTTP)).toBeUndefined();
    },
  );

  it("is not looked up without a cookie, or with something that is no token", async () => {
    const { sessions, store, cookie } = oneSession();
    expect(await sessions.findByCookie({}, HTTP)).toBeUndefined();
    expect(await sessions.findByCookie(cookie(`${TOKEN}t`), HTTP)).toBeUndefined();
    expect(store.findByDigest).not.toHaveBeenCalled();
  });

  it("is over once it has expired, however often it was used", async () => {
    const { sessions, clock, find } = oneSession();
    for (let passed = 0; passed < 7 * DAY - HOUR; passed += HOUR) {
      clock.advance(HOUR);
      expect(await find()).toBeDefined();
    }
    clock.advance(HOUR - 1);
    expect(await find()).toBeDefined();
    clock.advance(1);
    expect(await find()).toBeUndefined();
    expect(await sessions.findByDigest(digestOf(TOKEN))).toMatchObject({ over: true });
  });

  it("is over once it was idle for too long, and its uses here count before they are written", async () => {
    const { clock, find } = oneSession();
    clock.advance(2 * HOUR - 1);
    expect(await find()).toBeDefined();
    clock.advance(2 * HOUR - 1);
    expect(await find()).toBeDefined();
    clock.advance(2 * HOUR);
    expect(await find()).toBeUndefined();
    expect(await find()).toBeUndefined();
  });

  it("is over once it was ended, or its user is not active any more", async () => {
    expect(await oneSession({ endedAt: "2026-11-21T07:00:00.000Z" }).find()).toBeUndefined();
    const { user } = oneSession().found;
    for (const status of ["invited", "deactivated"] as const)
      expect(await oneSession({ user: { ...user, status } }).find()).toBeUndefined();
  });

  it("is not over while it is valid, when it is found by its digest", async () => {
    const { sessions } = oneSession();
    expect(await sessions.findByDigest(digestOf(TOKEN))).toMatchObject({
      over: false,
      session: { id: "ses_1" },
    });
    expect(await sessions.findByDigest(digestOf("other"))).toBeUndefined();
  });
});

describe("the uses of sessions", () => {
  it("are written at most once a minute, with the last time, and expired sessions are deleted", async () => {
    const { sessions, store, clock, find } = oneSession();
    await sessions.flush();
    expect(store.touch).not.toHaveBeenCalled();
    expect(store.purge).toHaveBeenCalledExactlyOnceWith(iso(clock.now()), iso(clock.now() - 2 * HOUR));
    await find();
    await sessions.flush();
    expect(store.touch).toHaveBeenCalledExactlyOnceWith(new Map([["ses_1", iso(clock.now())]]));
    clock.advance(MINUTE - 1);
    await find();
    await sessions.flush();
    expect(store.touch).toHaveBeenCalledOnce();
    const usedAt = clock.now();
    clock.advance(1);
    await sessions.flush();
    expect(store.touch).toHaveBeenLastCalledWith(new Map([["ses_1", iso(usedAt)]]));
    clock.advance(DAY);
    await sessions.flush();
    expect(store.touch).toHaveBeenCalledTimes(2);
  });

  it("during a write are written by the next one", async () => {
    const { sessions, store, clock, find } = oneSession();
    await find();
    store.touch.mockImplementationOnce(async () => {
      clock.advance(1);
      await find();
    });
    await sessions.flush();
    const usedAt = clock.now();
    clock.advance(MINUTE);
    await sessions.flush();
    expect(store.touch).toHaveBeenLastCalledWith(new Map([["ses_1", iso(usedAt)]]));
  });

  it("of a session that is over are not written", async () => {
    const { sessions, store, find } = oneSession({ endedAt: "2026-11-21T07:00:00.000Z" });
    await find();
    await sessions.flush();
    expect(store.touch).not.toHaveBeenCalled();
  });
});

describe("sessions", () => {
  it("that are not valid are those that the store finds, by both limits", async () => {
    const { sessions, store, clock } = oneSession();
    expect(await sessions.findInvalid(["ses_1", "ses_9"])).toEqual(["ses_9"]);
    const [now, cutoff] = [iso(clock.now()), iso(clock.now() - 2 * HOUR)];
    expect(store.findInvalid).toHaveBeenCalledExactlyOnceWith(["ses_1", "ses_9"], now, cutoff);
    expect(sessions.idleCutoff()).toBe(cutoff);
  });

  it("give access to the projects of their user, or everywhere while there is one project", async () => {
    const { sessions, found } = oneSession();
    const access = await sessions.accessOf(found.user);
    expect(access.everywhere).toBeNull();
    expect([...access.projects.keys()]).toEqual(["default", "sales"]);
    const single = oneSession({}, { isSingle: async () => true });
    const everywhere = await single.sessions.accessOf(found.user);
    expect([...(everywhere.everywhere ?? [])]).toContain("write");
  });

  it("act as their user", () => {
    const { found } = oneSession();
    expect(principalOf({ session: found, user: found.user }, accessEverywhere(["read"]))).toEqual({
      kind: "session",
      keyId: "ses_1",
      keyName: "browser",
      owner: "ann@example.com",
      scopes: new Set(["read"]),
      access: accessEverywhere(["read"]),
      lineage: "usr_1",
    });
  });
});

describe("the cookie of a session", () => {
  it("is kept from scripts and from other sites, until the session expires", () => {
    expect(sessionCookie(TOKEN, HTTPS, LIMITS)).toBe(
      `__Host-millrace=${TOKEN}; Max-Age=604800; Path=/; HttpOnly; Secure; SameSite=Strict`,
    );
    expect(sessionCookie(TOKEN, HTTP, LIMITS)).toBe(
      `millrace_session=${TOKEN}; Max-Age=604800; Path=/; HttpOnly; SameSite=Strict`,
    );
  });

  it("is not sent to the other applications of a host below whose path people reach the server", () => {
    expect(sessionCookie(TOKEN, { secure: true, pathPrefix: "/millrace" }, LIMITS)).toBe(
      `__Secure-millrace=${TOKEN}; Max-Age=604800; Path=/millrace; HttpOnly; Secure; SameSite=Strict`,
    );
    expect(sessionCookie(TOKEN, { secure: false, pathPrefix: "/millrace" }, LIMITS)).toContain(
      "Path=/millrace;",
    );
  });

  it("is deleted without a token", () => {
    expect(sessionCookie(null, HTTPS, LIMITS)).toBe(
      "__Host-millrace=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict",
    );
  });
});

const WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)";
const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";

describe("the name of a browser", () => {
  it.each([
    ["Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox 145 on Linux"],
    [`${WINDOWS} Chrome/142.0.0.0 Safari/537.36`, "Chrome 142 on Windows"],
    [`${WINDOWS} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.3595.65`, "Edge 142 on Windows"],
    [`${WINDOWS} Chrome/142.0.0.0 Safari/537.36 OPR/125.0.0.0`, "Opera 125 on Windows"],
    [
      "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36 EdgA/142.0.3595.65",
      "Edge 142 on Android",
    ],
    [`${IPHONE} Version/18.1 Mobile/15E148 Safari/604.1`, "Safari 18 on iOS"],
    [`${IPHONE} CriOS/142.0.7444.77 Mobile/15E148 Safari/604.1`, "Chrome 142 on iOS"],
    [`${IPHONE} FxiOS/145.0 Mobile/15E148 Safari/604.1`, "Firefox 145 on iOS"],
    [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15",
      "Safari 26 on macOS",
    ],
    [
      "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
      "Chrome 142 on ChromeOS",
    ],
    ["Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/142.0.0.0 Safari/537.36", "Chrome 142 on Linux"],
    ["Mozilla/5.0 (PlayStation 5) Firefox/145.0", "Firefox 145"],
    ["curl/8.17.0", "curl/8.17.0"],
    ["", ""],
  ])("of %s is %s", (agent, name) => {
    expect(browserName(agent)).toBe(name);
  });
});
