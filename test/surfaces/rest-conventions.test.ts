import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { newKeyValue } from "../../src/auth/key-format.ts";
import { HOUR, iso } from "../../src/core/clock.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock } from "../support/instance.ts";
import { signedInUser, signIn } from "../support/users.ts";
import { expectProblem, openRest } from "../support/rest.ts";

describe("the API key", () => {
  it("gives one 401 body whether it is missing, malformed, unknown, expired or revoked", async () => {
    const clock = fakeClock();
    const { instance, url } = await openRest({ clock });
    const expired = await instance.key({ expiresAt: iso(clock.now() + HOUR) });
    const revoked = await instance.key();
    const alive = await instance.key();
    expect((await apiClient(url, expired.value)("GET", "/workflows")).status).toBe(200);
    clock.advance(HOUR);
    await instance.keys.revoke(revoked.record.id, iso(clock.now()), "operator");
    const mistyped = `${alive.value.slice(0, -1)}${alive.value.endsWith("0") ? "1" : "0"}`;
    const attempts: Record<string, string>[] = [
      {},
      { "X-API-Key": "" },
      { "X-API-Key": "nonsense" },
      { "X-API-Key": mistyped },
      { "X-API-Key": newKeyValue() },
      { "X-API-Key": `${alive.value}, ${alive.value}` },
      { "X-API-Key": expired.value },
      { "X-API-Key": revoked.value },
      { Authorization: "Bearer" },
      { Authorization: `Basic ${Buffer.from(`x:${alive.value}`).toString("base64")}` },
      { Authorization: `Bearer ${revoked.value}` },
      // A valid key in another place does not make up for an invalid one.
      { "X-API-Key": revoked.value, Authorization: `Bearer ${alive.value}` },
    ];
    const bodies = new Set<string>();
    for (const headers of attempts) {
      const answer = await apiClient(url)("GET", "/workflows", undefined, headers);
      const { request_id: _, ...body } = expectProblem(answer, "unauthorized");
      expect(answer.headers.get("www-authenticate")).toBe('ApiKey realm="millrace"');
      bodies.add(JSON.stringify(body));
    }
    expect(bodies.size).toBe(1);
  });

  it("is required on every route, before the input is checked", async () => {
    const { url } = await openRest();
    for (const [method, path] of [
      ["GET", "/workflows?nonsense=1"],
      ["POST", "/workflows"],
      ["GET", "/workflows/x"],
      ["PATCH", "/workflows/x"],
      ["DELETE", "/workflows/x"],
      ["POST", "/workflows/x/restore"],
      ["GET", "/workflows/x/versions"],
      ["GET", "/workflows/x/versions/1"],
    ] as const) {
      const body = method === "POST" || method === "PATCH" ? "not json" : undefined;
      expect(expectProblem(await apiClient(url)(method, path, body), "unauthorized").errors).toBeUndefined();
    }
  });

  it("is accepted as a bearer token too", async () => {
    const { url, key } = await openRest();
    for (const scheme of ["Bearer", "bearer"]) {
      const { status } = await apiClient(url)("GET", "/workflows", undefined, {
        Authorization: `${scheme} ${key}`,
      });
      expect(status).toBe(200);
    }
  });

  it("gets 403 with the missing scope", async () => {
    const { instance, url } = await openRest();
    const { value } = await instance.key({ scopes: ["read"] });
    const call = apiClient(url, value);
    expect((await call("GET", "/workflows")).status).toBe(200);
    const { detail, errors } = expectProblem(
      await call("POST", "/workflows", { name: "x" }),
      "missing_scope",
    );
    expect(detail).toContain('the scope "write"');
    expect(errors).toMatchObject([{ code: "missing_scope", allowed: ["write"] }]);
    expect((await call("GET", "/workflows")).body).toEqual([]);
  });

  it("appears in no answer and no log line", async () => {
    let log = "";
    const sink = new Writable({ write: (chunk, _encoding, done) => ((log += String(chunk)), done()) });
    const { url, key, call } = await openRest({ log: pino({ level: "trace" }, sink) });
    const seen: unknown[] = [];
    for (const [method, path, body] of [
      ["POST", "/workflows", { name: "x" }],
      ["POST", "/workflows", { nam: 1 }],
      ["POST", "/workflows", "{"],
      ["GET", "/workflows"],
      ["GET", "/nothing"],
      ["PUT", "/workflows"],
      ["GET", "/workflows/%zz"],
      ["GET", "/apidoc/"],
      ["GET", "/health"],
    ] as const) {
      const { headers, body: answer } = await call(method, path, body);
      seen.push([...headers], answer);
    }
    const { body } = await apiClient(url, `${key.slice(0, -1)}!`)("GET", "/workflows");
    expect(log).toContain("create_workflow");
    for (const text of [JSON.stringify([...seen, body]), log]) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(key.slice(5, 35));
    }
  });

  it("is limited to the configured rate: 429 with Retry-After, separately for each key", async () => {
    const { instance, url, call } = await openRest({ config: { limits: { requests_per_minute: 3 } } });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await call("GET", "/workflows")).status);
    expect(statuses).toEqual([200, 200, 200]);
    const answer = await call("POST", "/workflows", { name: "x" });
    const { detail } = expectProblem(answer, "rate_limited");
    expect(detail).toContain("3 requests");
    const wait = Number(answer.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    const other = apiClient(url, (await instance.key()).value);
    expect((await other("GET", "/workflows")).body).toEqual([]);
  });
});

describe("a signed-in user", () => {
  it("is limited to the same rate over all sessions, separately from keys and other users", async () => {
    const { instance, url } = await openRest({ config: { limits: { requests_per_minute: 3 } } });
    const ann = await signedInUser(instance);
    const second = await signIn(instance, ann.user);
    const ben = await signedInUser(instance, { email: "ben@example.com" });
    const call = apiClient(url);
    const ask = ({ cookie }: { cookie: string }) => call("GET", "/workflows", undefined, { Cookie: cookie });
    const statuses = [];
    for (const browser of [ann, second, ann]) statuses.push((await ask(browser)).status);
    expect(statuses).toEqual([200, 200, 200]);
    const refused = await ask(second);
    expect(expectProblem(refused, "rate_limited").detail).toContain("You have used your 3 requests");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await ask(ben)).status).toBe(200);
    const { value } = await instance.key({ owner: ann.user.email });
    expect((await apiClient(url, value)("GET", "/workflows")).status).toBe(200);
  });
});

describe("X-Request-Id", () => {
  it("is accepted, echoed, and quoted in problems", async () => {
    const { call } = await openRest();
    const id = { "X-Request-Id": "trace:4bf9-2f.3~x" };
    for (const path of ["/workflows", "/workflows/none", "/nothing", "/health", "/apidoc/"]) {
      const { status, headers, body } = await call("GET", path, undefined, id);
      expect(headers.get("x-request-id")).toBe(id["X-Request-Id"]);
      // Only a problem has one in its body.
      expect([id["X-Request-Id"], undefined]).toContain(body.request_id);
      expect("request_id" in Object(body)).toBe(status >= 400);
    }
  });

  it.each(["", "a b", "a".repeat(129), "<script>", "a,b", "ä"])(
    "is replaced if it can't be logged: %j",
    async (given) => {
      const { call } = await openRest();
      const { headers } = await call("GET", "/workflows", undefined, { "X-Request-Id": given });
      expect(headers.get("x-request-id")).toMatch(/^req_[\w-]{12}$/);
    },
  );
});

describe("methods and paths", () => {
  it("refuses another method with 405 and the allowed methods", async () => {
    const { url } = await openRest();
    for (const [path, allow] of [
      ["/workflows", "POST, GET, HEAD"],
      ["/workflows/x", "DELETE, GET, HEAD, PATCH"],
      ["/workflows/x/restore", "POST"],
      ["/workflows/x/versions", "GET, HEAD"],
      ["/workflows/x/versions/1", "GET, HEAD"],
      ["/health", "GET, HEAD"],
    ] as const) {
      const refused = await apiClient(url)("PUT", path, {});
      const { detail } = expectProblem(refused, "method_not_allowed");
      expect(detail).toContain("PUT");
      expect(refused.headers.get("allow")).toBe(allow);
      const options = await apiClient(url)("OPTIONS", path);
      expect(options).toMatchObject({ status: 204, body: "" });
      expect(options.headers.get("allow")).toBe(allow);
    }
  });

  it("answers HEAD as GET, without the body", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    for (const path of ["/workflows", "/workflows?limit=1", "/workflows/a", "/workflows/none", "/health"]) {
      const [get, head] = [await call("GET", path), await call("HEAD", path)];
      expect(head.status).toBe(get.status);
      expect(head.body).toBe("");
      for (const name of ["content-type", "content-length", "etag", "x-total-count"]) {
        if (name === "content-length" && get.status === 404) continue;
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
      }
    }
  });

  it("answers an unknown path with a problem", async () => {
    const { url, call } = await openRest();
    for (const path of [
      "/nothing",
      "/Workflows",
      "/workflows/x/y",
      "/workflows//versions",
      "/apidoc/none",
      "/%zz",
    ]) {
      const { detail } = expectProblem(await call("GET", path), "route_not_found");
      expect(detail).toContain("/apidoc");
    }
    expectProblem(await apiClient(url)("POST", "/nothing", "{"), "route_not_found");
  });

  it("refuses a path that does not decode", async () => {
    const { call } = await openRest();
    for (const path of ["/workflows/%zz", "/workflows/%", "/workflows/%ff/versions"]) {
      expect(expectProblem(await call("GET", path), "invalid_request").detail).toContain("decode");
    }
  });

  it("redirects from the root path to the web interface", async () => {
    const { url } = await openRest();
    const { status, headers } = await apiClient(url)("GET", "/");
    expect(status).toBe(302);
    expect(headers.get("location")).toBe("/ui/");
  });
});
