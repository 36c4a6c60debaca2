import { describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config/config-file.ts";
import { DAY } from "../../src/core/clock.ts";
import { type MockAlb, mockAlb } from "../support/mock-alb.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { addUser } from "../support/users.ts";
import { expectProblem } from "../support/rest.ts";

type Options = NonNullable<Parameters<Awaited<ReturnType<typeof testInstance>>["rest"]>[0]>;

async function open(options: Options = {}) {
  const peer = await mockAlb();
  const instance = await testInstance();
  const more = { ...options, authMode: "cognito", env: { ...peer.env, ...options.env } } as const;
  const copy = await instance.rest(more);
  const ask = apiClient(copy.url);
  /** A request as the load balancer passes it on. */
  const through = (method: string, path: string, headers = peer.headers(), body?: unknown) =>
    ask(method, path, body, { "sec-fetch-site": "same-origin", ...headers });
  return { peer, instance, copy, ask, through, more };
}

const seconds = (ago: number): number => Math.floor((Date.now() - ago) / 1000);
const groups = (...names: string[]) => ({ "cognito:groups": names });
const ben = (peer: MockAlb, access = {}) =>
  peer.headers({ sub: "ben-sub", email: "ben@example.com" }, { origin_jti: "login-ben", ...access });

describe("sign-on by a load balancer", () => {
  it("creates a user at the first request, and one session for each login", async () => {
    const { through, instance, peer } = await open();
    const { status, body } = await through("GET", "/session");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      mode: "cognito",
      user: { email: "ann@example.com", role: "viewer", verified: true },
    });
    const again = await through("GET", "/session");
    expect(again.body.session.id).toBe(body.session.id);
    const other = await through("GET", "/session", peer.headers({}, { origin_jti: "login-2" }));
    expect(other.body.user.id).toBe(body.user.id);
    expect(other.body.session.id).not.toBe(body.session.id);
    const entries = await instance.read.audit.page({ filter: {}, before: null, limit: 10 });
    expect(entries.map(({ operation, target, owner }) => [operation, target, owner])).toEqual([
      ["sign_in", "ann@example.com", "ann@example.com"],
      ["sign_in", "ann@example.com", "ann@example.com"],
      ["sign_in.role_viewer", "ann@example.com", "ann@example.com"],
    ]);
  });

  it("creates one user and one session for concurrent requests", async () => {
    const { through, instance } = await open();
    const answers = await Promise.all(Array.from({ length: 20 }, () => through("GET", "/session")));
    expect(new Set(answers.map(({ body }) => body.session.id)).size).toBe(1);
    expect(await instance.read.users.count({})).toBe(1);
  });

  it("refuses users whose address is not verified", async () => {
    const { through, peer, instance } = await open();
    const refused = await through("GET", "/session", peer.headers({ email_verified: "false" }));
    expectProblem(refused, "sign_on_refused");
    expect(await instance.read.users.exists()).toBe(false);
  });

  it("runs operations as that user, with their role", async () => {
    const { through, peer } = await open();
    const workflow = { name: "From a browser", description: "" };
    expectProblem(await through("POST", "/workflows", peer.headers(), workflow), "missing_scope");
    const editor = peer.headers({}, groups("millrace-editor"));
    const made = await through("POST", "/workflows", editor, workflow);
    expect(made.status).toBe(201);
    expect(made.body.created_by).toBe("ann@example.com");
  });

  it("refuses requests without the headers, and accepts API keys without them", async () => {
    const { ask, instance } = await open();
    expectProblem(await ask("GET", "/session"), "unauthorized");
    expectProblem(await ask("GET", "/workflows"), "unauthorized");
    const { value } = await instance.key();
    expect((await ask("GET", "/workflows", undefined, { "x-api-key": value })).status).toBe(200);
  });

  it("ignores the headers on requests that the load balancer forwards unchanged", async () => {
    const { through, peer } = await open();
    const credentials: Record<string, string>[] = [{ "x-api-key": "x" }, { authorization: "Bearer x" }];
    for (const credential of credentials) {
      const answer = await through("GET", "/session", { ...peer.headers(), ...credential });
      expect(expectProblem(answer, "unauthorized").detail).toMatch(/This browser is not signed in/);
    }
  });

  it("refuses forged headers with 401, gives the reason only in the log, and creates no user", async () => {
    const { through, peer, instance } = await open();
    const forged = { ...peer.headers(), "x-amzn-oidc-data": peer.data({}, { signer: "arn:aws:other" }) };
    const { body, ...answer } = await through("GET", "/session", forged);
    expectProblem({ body, ...answer }, "unauthorized");
    expect(JSON.stringify(body)).not.toContain("arn:aws");
    expect(await instance.read.users.exists()).toBe(false);
  });

  it("accepts the headers only from the load balancer's addresses, if these are configured", async () => {
    const elsewhere = await open({ env: { MILLRACE_TRUSTED_PROXIES: "10.0.0.0/8" } });
    expectProblem(await elsewhere.through("GET", "/session"), "unauthorized");
    const here = await open({ env: { MILLRACE_TRUSTED_PROXIES: "10.0.0.0/8, 127.0.0.1" } });
    expect((await here.through("GET", "/session")).status).toBe(200);
  });

  it("refuses requests from pages of other sites", async () => {
    const { ask, peer } = await open();
    const headers = { ...peer.headers({}, groups("millrace-editor")), "sec-fetch-site": "cross-site" };
    const refused = await ask("POST", "/workflows", { name: "Planted", description: "" }, headers);
    expectProblem(refused, "forbidden_origin");
    expect((await ask("GET", "/workflows", undefined, peer.headers())).body).toEqual([]);
  });

  it("ignores the headers in other authentication modes", async () => {
    const { peer, instance } = await open();
    const copy = await instance.rest({ env: peer.env });
    const answer = await apiClient(copy.url)("GET", "/session", undefined, peer.headers());
    expectProblem(answer, "unauthorized");
    expect(await instance.read.users.exists()).toBe(false);
  });
});

describe("roles", () => {
  it("follow the groups, up and down, from the next request", async () => {
    const { through, peer } = await open();
    const role = async (...names: string[]) =>
      (await through("GET", "/session", peer.headers({}, groups(...names)))).body.user.role;
    expect(await role("somebody")).toBe("viewer");
    expect(await role("millrace-viewer", "millrace-admin")).toBe("admin");
    expect(await role("millrace-editor")).toBe("editor");
    expect(await role()).toBe("viewer");
  });

  it("come from the configured groups; a user without any can be refused", async () => {
    const sign_on = { groups: { ops: "admin" }, default_role: "none" };
    const { through, peer, instance } = await open({ config: { authentication: { sign_on } } });
    const out = await through("GET", "/session", peer.headers({}, groups("millrace-admin")));
    expectProblem(out, "sign_on_refused");
    expect(out.body.detail).toMatch(/ops/);
    expect(await instance.read.users.exists()).toBe(false);
    const inside = await through("GET", "/session", peer.headers({}, groups("ops")));
    expect(inside.body.user.role).toBe("admin");
    expectProblem(await through("GET", "/session"), "sign_on_refused");
  });

  it("that users get by default follow the configuration, also for users who are signed in", async () => {
    const { through, peer, instance, more } = await open();
    const admin = peer.headers(
      { sub: "root", email: "root@example.com" },
      { ...groups("millrace-admin"), origin_jti: "r" },
    );
    await through("GET", "/session", admin);
    expect((await through("GET", "/session")).body.user.role).toBe("viewer");
    const chosen = (await through("GET", "/session", ben(peer))).body.user;
    await through("PATCH", `/users/${chosen.id}`, admin, { role: "editor" });
    const with_ = async (default_role: string) => {
      const config = { authentication: { sign_on: { default_role } } };
      const { url } = await instance.rest({ ...more, config });
      return (headers: Record<string, string>) => apiClient(url)("GET", "/session", undefined, headers);
    };
    expect((await (await with_("editor"))(peer.headers())).body.user.role).toBe("editor");
    const closed = await with_("none");
    expectProblem(await closed(peer.headers()), "sign_on_refused");
    // A role that an admin has set is kept.
    expect((await closed(ben(peer))).body.user.role).toBe("editor");
  });

  it("include admin for the users that the operator names, if their address is verified", async () => {
    const { through, peer } = await open({
      env: { MILLRACE_ADMIN_EMAILS: "Ann@example.com, x@example.com" },
    });
    expect((await through("GET", "/session")).body.user.role).toBe("admin");
    const unverified = peer.headers(
      { sub: "eve", email: "x@example.com", email_verified: false },
      { origin_jti: "e" },
    );
    expectProblem(await through("GET", "/session", unverified), "sign_on_refused");
  });

  it("do not include admin for a user who changes to such an address without verifying it", async () => {
    const { through, peer } = await open({ env: { MILLRACE_ADMIN_EMAILS: "root@example.com" } });
    expect((await through("GET", "/session")).body.user.role).toBe("viewer");
    const taken = peer.headers({ email: "root@example.com", email_verified: "false" });
    expect((await through("GET", "/session", taken)).body.user.role).toBe("viewer");
  });

  it("can be changed by an admin only if no group decides them", async () => {
    const { through, peer } = await open();
    const admin = peer.headers({}, groups("millrace-admin"));
    await through("GET", "/session", admin);
    const { id } = (await through("GET", "/session", ben(peer))).body.user;
    const path = `/users/${id}`;
    expect((await through("PATCH", path, admin, { role: "editor" })).status).toBe(200);
    expect((await through("GET", "/session", ben(peer))).body.user.role).toBe("editor");
    await through("GET", "/session", ben(peer, groups("millrace-viewer")));
    const refused = await through("PATCH", path, admin, { role: "admin" });
    expectProblem(refused, "sign_on_elsewhere");
    expect((await through("PATCH", path, admin, { status: "deactivated" })).status).toBe(200);
    expectProblem(await through("GET", "/session", ben(peer)), "sign_on_refused");
    expect((await through("PATCH", path, admin, { status: "active" })).body.status).toBe("active");
  });
});

describe("the identity of a user", () => {
  it("is the issuer's subject, not the address", async () => {
    const { through, peer } = await open();
    const ann = (await through("GET", "/session")).body.user;
    const other = peer.headers({ sub: "mallory", email: "ann@example.com" }, { origin_jti: "m" });
    expectProblem(await through("GET", "/session", other), "sign_on_refused");
    const renamed = peer.headers({ email: "ann.new@example.com" });
    expect((await through("GET", "/session", renamed)).body.user).toMatchObject({
      id: ann.id,
      email: ann.email,
    });
  });

  it("is matched to an invited or earlier account with the same verified address", async () => {
    const { through, instance } = await open();
    const invited = await addUser(instance, { email: "ann@example.com", role: "editor", status: "invited" });
    const { body } = await through("GET", "/session");
    expect(body.user).toMatchObject({ id: invited.id, role: "editor" });
    expect((await instance.read.users.find(invited.id))!.status).toBe("active");
  });
});

describe("operations on passwords", () => {
  it("are refused with a hint where to do it instead", async () => {
    const { through, peer, copy } = await open();
    const admin = peer.headers({}, groups("millrace-admin"));
    const options = await through("GET", "/session/options", admin);
    expect(options.body).toEqual({ mode: "cognito", setup: false, mail: false });
    expect(await copy.createSetupLink!()).toBeUndefined();
    const { id } = (await through("GET", "/session", ben(peer))).body.user;
    const asked: [string, object][] = [
      ["/session", { email: "ann@example.com", password: "a quiet river at night" }],
      ["/session/setup", { token: "x", email: "ann@example.com", password: "a quiet river at night" }],
      ["/session/password-reset", { email: "ann@example.com" }],
      ["/session/change-password", { current_password: "x", password: "a quiet river at night" }],
      ["/users", { email: "new@example.com", role: "admin" }],
      [`/users/${id}/password-reset`, {}],
      [`/users/${id}/invitation`, {}],
    ];
    for (const [path, body] of asked)
      expectProblem(await through("POST", path, admin, body), "sign_on_elsewhere");
  });
});

describe("signing out", () => {
  it("ends the login permanently, although the load balancer still sends valid headers", async () => {
    const { through, ask, peer } = await open();
    expect((await through("GET", "/session")).status).toBe(200);
    const other = peer.headers({}, { origin_jti: "login-2" });
    expect((await through("GET", "/session", other)).status).toBe(200);
    expect((await through("DELETE", "/session")).status).toBe(204);
    expectProblem(await through("GET", "/session"), "unauthorized");
    expectProblem(await through("GET", "/workflows"), "unauthorized");
    // The sign-in options are public, and signing out again is no error.
    expect((await through("GET", "/session/options")).status).toBe(200);
    expect((await through("DELETE", "/session")).status).toBe(204);
    expect((await through("GET", "/session", other)).status).toBe(200);
    // The headers stay what they are; so does the answer.
    expectProblem(await ask("GET", "/session", undefined, peer.headers()), "unauthorized");
  });

  it("can be done from another browser", async () => {
    const { through, peer } = await open();
    const { session } = (await through("GET", "/session")).body;
    const other = peer.headers({}, { origin_jti: "login-2" });
    expect((await through("GET", "/sessions", other)).body).toHaveLength(2);
    expect((await through("POST", `/sessions/${session.id}/end`, other, {})).body).toEqual({ ended: 1 });
    expectProblem(await through("GET", "/session"), "unauthorized");
    expect((await through("GET", "/sessions", other)).body).toHaveLength(1);
  });

  it("is final on every copy", async () => {
    const { through, instance, peer, more } = await open();
    const second = apiClient((await instance.rest(more)).url);
    await through("GET", "/session");
    expect((await second("GET", "/session", undefined, peer.headers())).status).toBe(200);
    await through("DELETE", "/session");
    expectProblem(await second("GET", "/session", undefined, peer.headers()), "unauthorized");
  });

  it("clears the load balancer's cookies and redirects to the user pool, which redirects back", async () => {
    const domain = "https://millrace.auth.eu-central-1.amazoncognito.com";
    const { ask } = await open({
      env: { MILLRACE_COGNITO_DOMAIN: domain, MILLRACE_BASE_URL: "https://mill.example.com" },
    });
    const left = await ask("GET", "/logout", undefined, {
      cookie:
        "AWSELBAuthSessionCookie-0=a; AWSELBAuthSessionCookie-1=b; AWSELBAuthSessionCookie-2=c; other=d",
    });
    expect(left.status).toBe(303);
    const to = new URL(left.headers.get("location")!);
    expect(`${to.origin}${to.pathname}`).toBe(`${domain}/logout`);
    expect(Object.fromEntries(to.searchParams)).toEqual({
      client_id: "4testclient",
      logout_uri: "https://mill.example.com/logout",
    });
    const cookies = left.headers.getSetCookie();
    for (const index of [0, 1, 2])
      expect(cookies.find((cookie) => cookie.startsWith(`AWSELBAuthSessionCookie-${index}=;`))).toMatch(
        /Max-Age=0/,
      );
    expect(cookies.some((cookie) => cookie.startsWith("other"))).toBe(false);
    const marker = cookies.find((cookie) => cookie.startsWith("millrace_left=1"))!;
    expect(marker).toMatch(/HttpOnly.*Secure/);
    const back = await ask("GET", "/logout", undefined, { cookie: marker.split(";")[0]! });
    expect(back.status).toBe(200);
    expect(back.body).toMatch(/signed out/);
    expect(back.headers.get("content-security-policy")).toMatch(/default-src 'none'/);
  });

  it("can't be triggered by another site", async () => {
    const { ask } = await open({
      env: { MILLRACE_COGNITO_DOMAIN: "https://x.auth.eu-central-1.amazoncognito.com" },
    });
    const asked = await ask("GET", "/logout", undefined, {
      cookie: "AWSELBAuthSessionCookie-0=a",
      "sec-fetch-site": "cross-site",
    });
    expect(asked.status).toBe(200);
    expect(asked.headers.getSetCookie()).toEqual([]);
  });
});

describe("a session", () => {
  it("ends at the configured limits too, counted from the login", async () => {
    const sessions = { idle: "3d", longest: "7d" };
    const { through, peer } = await open({ config: { authentication: { sessions } } });
    const of = (ago: number) => peer.headers({}, { auth_time: seconds(ago), origin_jti: `login-${ago}` });
    expect((await through("GET", "/session", of(6 * DAY))).status).toBe(200);
    expectProblem(await through("GET", "/session", of(8 * DAY)), "unauthorized");
  });
});

describe("starting with --auth-mode cognito", () => {
  it("is refused without its settings; the message names all of them and says why the ARN is needed", async () => {
    const instance = await testInstance();
    const failed = await instance.rest({ authMode: "cognito" }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ConfigError);
    const { issues } = failed as ConfigError;
    expect(issues).toHaveLength(3);
    expect(issues.join("\n")).toMatch(
      /USER_POOL_ID[^]*CLIENT_ID[^]*ALB_ARN: .*any load balancer of the region could sign people in/,
    );
  });

  it("is refused with invalid settings", async () => {
    const instance = await testInstance();
    const { env } = await mockAlb();
    for (const [name, value] of [
      ["MILLRACE_COGNITO_USER_POOL_ID", "pool"],
      ["MILLRACE_ALB_ARN", "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/net/x/50dc"],
      ["MILLRACE_ALB_KEYS_URL", "http://keys.example.com"],
      ["MILLRACE_COGNITO_DOMAIN", "millrace.auth.eu-central-1.amazoncognito.com"],
      ["MILLRACE_ADMIN_EMAILS", "ann"],
    ] as const) {
      const failed = await instance
        .rest({ authMode: "cognito", env: { ...env, [name]: value } })
        .catch((error: unknown) => error);
      expect(String(failed)).toContain(name);
    }
  });
});
