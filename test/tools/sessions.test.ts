import { describe, expect, it } from "vitest";
import { DAY, HOUR, iso } from "../../src/core/clock.ts";
import { endOtherSessions } from "../../tools/sessions/end-other-sessions.ts";
import { endSession } from "../../tools/sessions/end-session.ts";
import { listSessions } from "../../tools/sessions/list-sessions.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, testInstance, type TestInstance } from "../support/instance.ts";
import { callAs, addUser, signedInUser, signIn, keyPrincipal } from "../support/users.ts";

/** Ann in three browsers, an hour between them, and Bob in one. */
async function signedIn() {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const user = await addUser(instance, { role: "viewer" });
  const first = await signIn(instance, user, { client: "Firefox 145 on Linux", address: "192.0.2.7" });
  clock.advance(HOUR);
  const second = await signIn(instance, user);
  clock.advance(HOUR);
  const third = await signIn(instance, user);
  const bob = await signedInUser(instance, { email: "bob@example.com", role: "admin" });
  return { instance, clock, first, second, third, bob, call: callAs(instance, second.principal) };
}

const audited = async ({ read }: TestInstance): Promise<string[]> =>
  (await read.audit.page({ filter: {}, before: null, limit: 100 })).map(
    ({ operation, target, owner, keyName }) => `${owner} ${keyName} ${operation} ${target}`,
  );

describe("list_sessions", () => {
  it("lists the caller's own sessions, most recently used first, and marks the current one", async () => {
    const { call, first, second, third } = await signedIn();
    const { items, total } = await call(listSessions);
    expect(total).toBe(3);
    expect(items.map(({ id, current }) => [id, current])).toEqual([
      [third.session.id, false],
      [second.session.id, true],
      [first.session.id, false],
    ]);
    expect(items[2]).toEqual({
      id: first.session.id,
      current: false,
      client: "Firefox 145 on Linux",
      address: "192.0.2.7",
      created_at: "2026-11-21T08:00:00.000Z",
      seen_at: "2026-11-21T08:00:00.000Z",
      expires_at: iso(Date.parse("2026-11-21T08:00:00Z") + 30 * DAY),
    });
  });

  it("lists each session exactly once over pages, also ties", async () => {
    const { instance, second, call } = await signedIn();
    for (let i = 0; i < 4; i += 1) await signIn(instance, second.user);
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await call(listSessions, { limit: 2, ...(cursor && { cursor }) });
      expect(page.total).toBe(7);
      expect(page.items.length).toBeGreaterThan(0);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual((await call(listSessions)).items.map(({ id }) => id));
    expect(new Set(seen).size).toBe(7);
  });

  it("leaves out sessions that ended by idleness", async () => {
    const { instance, clock, second, call } = await signedIn();
    // One millisecond more than the maximum idle time.
    clock.advance(clock.now() - Date.parse(instance.services.accounts.idleSince()) + 1);
    expect((await call(listSessions)).items).toEqual([]);
    const fresh = await signIn(instance, second.user);
    expect((await call(listSessions)).items.map(({ id }) => id)).toEqual([fresh.session.id]);
  });
});

describe("end_session", () => {
  it("signs out of one browser at once", async () => {
    const { instance, first, second, third, call } = await signedIn();
    const { url } = await instance.rest();
    const ask = async (cookie: string) =>
      (await apiClient(url)("GET", "/workflows", undefined, { Cookie: cookie })).status;
    expect(await ask(first.cookie)).toBe(200);
    expect(await call(endSession, { session_id: first.session.id })).toEqual({ ended: 1 });
    expect(await Promise.all([first, second, third].map(({ cookie }) => ask(cookie)))).toEqual([
      401, 200, 200,
    ]);
    expect(await audited(instance)).toEqual([`ann@example.com browser end_session ${first.session.id}`]);
    await expect(call(endSession, { session_id: first.session.id })).rejects.toMatchObject({
      code: "session_not_found",
    });
  });

  it("does not find other users' sessions, not even for an admin", async () => {
    const { instance, first, bob, call } = await signedIn();
    const bobs = callAs(instance, bob.principal);
    await expect(bobs(endSession, { session_id: first.session.id })).rejects.toMatchObject({
      code: "session_not_found",
    });
    await expect(call(endSession, { session_id: bob.session.id })).rejects.toMatchObject({
      code: "session_not_found",
    });
    expect(await instance.read.sessions.find(first.session.id)).toBeDefined();
    expect(await instance.read.sessions.find(bob.session.id)).toBeDefined();
    expect(await audited(instance)).toEqual([]);
  });
});

describe("end_other_sessions", () => {
  it("keeps the current session, and those of other users", async () => {
    const { instance, first, second, third, bob, call } = await signedIn();
    const repeated = { idempotency_key: "once" };
    expect(await call(endOtherSessions, repeated)).toEqual({ ended: 2 });
    const left = await Promise.all(
      [first, second, third, bob].map(({ session }) => instance.read.sessions.find(session.id)),
    );
    expect(left.map((session) => session !== undefined)).toEqual([false, true, false, true]);
    expect(await call(endOtherSessions)).toEqual({ ended: 0 });
    expect(await call(endOtherSessions, repeated)).toEqual({ ended: 2 });
    expect(await audited(instance)).toEqual(["ann@example.com browser end_other_sessions ann@example.com"]);
  });
});

describe("an API key", () => {
  it.each([
    [listSessions, {}],
    [endSession, { session_id: "ses_1" }],
    [endOtherSessions, {}],
  ])("is refused by every operation on sessions: %#", async (tool, input) => {
    const call = callAs(await testInstance(), keyPrincipal());
    await expect(call(tool as typeof endSession, input)).rejects.toMatchObject({ code: "person_needed" });
  });
});
