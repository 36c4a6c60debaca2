import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { DAY, iso } from "../../src/core/clock.ts";
import { newRequestId, newSessionId } from "../../src/core/ids.ts";
import { sessionWriter } from "../../src/store/sessions.ts";
import type { NewSession } from "../../src/auth/sessions.ts";
import { completeSignIn } from "../../src/surfaces/session/complete-sign-in.ts";
import { mockAlb } from "../support/mock-alb.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { expectProblem } from "../support/rest.ts";

type Options = NonNullable<Parameters<Awaited<ReturnType<typeof testInstance>>["rest"]>[0]>;

async function open(options: Options = {}) {
  const peer = await mockAlb();
  const instance = await testInstance();
  const more = { ...options, authMode: "cognito", env: { ...peer.env, ...options.env } } as const;
  const ask = apiClient((await instance.rest(more)).url);
  /** A request as the load balancer forwards it. */
  const through = (method: string, path: string, headers = peer.headers(), body?: unknown) =>
    ask(method, path, body, { "sec-fetch-site": "same-origin", ...headers });
  return { peer, instance, ask, through, more };
}

const groups = (...names: string[]) => ({ "cognito:groups": names });

describe("an address that the user pool has verified", () => {
  it("does not match another user's address that differs before Unicode lower-casing", async () => {
    const { through, peer, instance } = await open({ env: { MILLRACE_ADMIN_EMAILS: "mike@example.com" } });
    const headers = peer.headers({ email: "mi\u{212a}e@example.com" });
    expectProblem(await through("GET", "/session", headers), "sign_on_refused");
    expect(await instance.read.users.exists()).toBe(false);
  });

  it("must be an address: not the operator's name, and without line breaks", async () => {
    const { through, peer, instance } = await open();
    for (const email of ["operator", " operator ", "a\nb@example.com", `${"x".repeat(300)}@example.com`]) {
      const refused = await through("GET", "/session", peer.headers({ email }));
      expectProblem(refused, "sign_on_refused");
    }
    expect(await instance.read.users.exists()).toBe(false);
  });
});

describe("a user who no longer has a role at the provider", () => {
  const noDefault = { authentication: { sign_on: { default_role: "none" } } };

  it("loses the use of their keys, and regains it by signing on with a role", async () => {
    const { through, ask, peer, instance } = await open({ config: noDefault });
    const admin = peer.headers({}, groups("millrace-admin"));
    const scopes = ["read", "admin"];
    const { value } = (await through("POST", "/api-keys", admin, { name: "ci", scopes })).body;
    const byKey = () => ask("GET", "/audit-log", undefined, { "x-api-key": value });
    expect((await byKey()).status).toBe(200);

    for (const _ of ["what they had is taken away", "nothing is left to take"]) {
      const refused = await through("GET", "/session");
      expectProblem(refused, "sign_on_refused");
      expect(refused.body.detail).toMatch(/gives you a role/);
    }
    expectProblem(await byKey(), "unauthorized");
    expect(await instance.read.users.findByEmail("ann@example.com")).toMatchObject({
      role: "viewer",
      status: "invited",
    });
    const entries = await instance.read.audit.page({ filter: {}, before: null, limit: 2 });
    expect(entries.map(({ operation }) => operation)).toEqual([
      "sign_in.role_viewer",
      "sign_in.status_invited",
    ]);

    // Ended sessions stay ended.
    expectProblem(await through("GET", "/session", admin), "unauthorized");
    const nextLogin = peer.headers({}, { ...groups("millrace-editor"), origin_jti: "login-2" });
    expect((await through("GET", "/session", nextLogin)).body.user.role).toBe("editor");
    expect((await ask("GET", "/workflows", undefined, { "x-api-key": value })).status).toBe(200);
    expectProblem(await byKey(), "missing_scope");
  });

  it("does not affect an account that only has the same address", async () => {
    const { through, peer, instance } = await open({ config: noDefault });
    await through("GET", "/session", peer.headers({}, groups("millrace-editor")));
    const other = peer.headers({ sub: "other" }, { origin_jti: "other" });
    expectProblem(await through("GET", "/session", other), "sign_on_refused");
    expect((await instance.read.users.findByEmail("ann@example.com"))!.status).toBe("active");
  });
});

describe("a session that has ended", () => {
  it("stays ended when a request that was admitted just before writes after", async () => {
    const { services, store, clock } = await testInstance();
    const now = iso(clock.now());
    const identity = {
      issuer: "https://id.example.com",
      subject: "ann",
      email: "ann@example.com",
      emailVerified: true,
      groups: [],
    };
    const policy = { groups: {}, defaultRole: "viewer", adminEmails: new Set<string>() } as const;
    const session: NewSession = {
      id: newSessionId(),
      digest: Buffer.alloc(32),
      createdAt: now,
      lastSeenAt: now,
      expiresAt: iso(clock.now() + DAY),
      client: "test",
      address: "127.0.0.1",
      external: true,
      endedAt: null,
      confirmedAt: null,
    };
    const enter = () =>
      completeSignIn(services, policy, identity, session, { client: "test", requestId: newRequestId() });
    expect((await enter()).session.id).toBe(session.id);
    await store.transaction((trx) => sessionWriter(trx, clock).end(session.id));
    await expect(enter()).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("is not revived by a restored state from before it started", async () => {
    const { through, peer, instance, more } = await open();
    // The state after `millrace restore`.
    await instance.store.transaction((trx) =>
      trx
        .insertInto("settings")
        .values({ name: "restored_at", value: iso(Date.now() - 10_000) })
        .execute(),
    );
    const restored = apiClient((await instance.rest(more)).url);
    const of = (ago: number) => {
      const auth_time = Math.floor(Date.now() / 1000) - ago;
      return { ...peer.headers({}, { auth_time, origin_jti: `login-${ago}` }), "sec-fetch-site": "none" };
    };
    expectProblem(await restored("GET", "/session", undefined, of(60)), "unauthorized");
    expect((await restored("GET", "/session", undefined, of(1))).status).toBe(200);
    expect((await through("GET", "/session")).status).toBe(200);
  });
});

describe("tokens with unknown keys", () => {
  it("do not lock out signed-in users, even after the load balancer rotated its key", async () => {
    const { through, peer } = await open();
    for (let count = 0; count < 40; count += 1) {
      const data = peer.data({}, { kid: randomUUID() });
      const access = peer.access({}, { ...peer.state.pool, kid: randomUUID() });
      const forged = { ...peer.headers(), "x-amzn-oidc-data": data, "x-amzn-oidc-accesstoken": access };
      expect((await through("GET", "/session", forged)).status).toBeGreaterThan(400);
    }
    peer.rotate();
    expect((await through("GET", "/session")).status).toBe(200);
  });
});

describe("a page of another host", () => {
  it("can't sign users out, not even from a sibling host", async () => {
    const domain = "https://x.auth.eu-central-1.amazoncognito.com";
    const { ask } = await open({ env: { MILLRACE_COGNITO_DOMAIN: domain } });
    const led = (site: string) => ask("GET", "/logout", undefined, { "sec-fetch-site": site });
    for (const site of ["cross-site", "same-site"]) {
      const asked = await led(site);
      expect([asked.status, asked.headers.getSetCookie()]).toEqual([200, []]);
    }
    expect((await led("same-origin")).status).toBe(303);
  });
});
