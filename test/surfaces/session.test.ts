import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../src/core/clock.ts";
import { sessionEndpoints } from "../../src/surfaces/session/endpoints.ts";
import { browserApi } from "../support/browser-api.ts";
import { eventually } from "../support/eventually.ts";
import { toApiResponse, apiClient } from "../support/http.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { userWriter } from "../../src/store/users.ts";
import { addUser, signIn } from "../support/users.ts";
import { expectProblem } from "../support/rest.ts";
import { socketClient, formatRequest } from "../support/sockets.ts";
import { smtpPeer } from "../support/mock-smtp-server.ts";

const PASSWORD = "a quiet river at night";
const ANN = "ann@example.com";

type Options = Parameters<Awaited<ReturnType<typeof testInstance>>["rest"]>[0];

/** A server with a fake clock, whose admin was created by the first visit. */
async function openWithAdmin(options: Options = {}) {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const copy = await instance.rest(options);
  const browser = browserApi(copy.url);
  const token = (await copy.createSetupLink!())!.split("#")[1]!;
  const made = await browser.request("POST", "/session/setup", { token, email: ANN, password: PASSWORD });
  expect(made.status).toBe(201);
  return { clock, instance, copy, browser, url: copy.url };
}

/** The same with a mail server. `mail` returns the token of a mail. */
async function withMail() {
  const peer = await smtpPeer();
  const basic = {
    smtp_user: "mill@example.com",
    smtp_password_var: "MAIL",
    smtp_server: "127.0.0.1",
    smtp_port: peer.port,
  };
  const made = await openWithAdmin({ config: { authentication: { basic } }, env: { MAIL: "secret" } });
  const mail = async (count: number): Promise<string> => {
    const raw = await eventually(() => peer.received[count - 1], `mail ${count}`);
    return /\/ui\/link#(\w{32})/.exec(raw.replaceAll("=\r\n", ""))![1]!;
  };
  return { ...made, mail, received: peer.received };
}

describe("the first visit", () => {
  it("creates the admin with the token of the link, signs them in, and works once", async () => {
    const instance = await testInstance();
    const copy = await instance.rest();
    const link = await copy.createSetupLink!();
    expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${copy.port}/ui/setup#\\w{32}$`));
    const browser = browserApi(copy.url);
    expect((await browser.request("GET", "/session/options")).body).toEqual({
      mode: "built-in",
      setup: true,
      mail: false,
    });
    expectProblem(await browser.request("GET", "/session"), "unauthorized");
    const body = { token: link!.split("#")[1]!, email: " Ann@Example.COM ", password: PASSWORD };
    const made = await browser.request("POST", "/session/setup", body);
    expect(made.status).toBe(201);
    expect(made.body.user).toMatchObject({ email: ANN, role: "admin", verified: false });
    expect(made.body.session).toMatchObject({ client: "Firefox 145 on Linux", current: true });
    expect(made.headers.get("cache-control")).toBe("no-store");
    expect((await browser.request("GET", "/session")).body).toEqual(made.body);
    expect((await browser.request("GET", "/workflows")).body).toEqual([]);
    expect((await browser.request("GET", "/session/options")).body.setup).toBe(false);
    expect(await copy.createSetupLink!()).toBeUndefined();
    expectProblem(await browserApi(copy.url).request("POST", "/session/setup", body), "setup_done");
  });

  it("is refused without the token, and reports all invalid fields at once", async () => {
    const instance = await testInstance();
    const copy = await instance.rest();
    const { request: ask } = browserApi(copy.url);
    await copy.createSetupLink!();
    const email = ANN;
    expectProblem(
      await ask("POST", "/session/setup", { token: "x".repeat(32), email, password: PASSWORD }),
      "link_expired",
    );
    const problem = expectProblem(
      await ask("POST", "/session/setup", { token: "x", email: "no address", pasword: "x" }),
      "invalid_input",
    );
    expect(problem.errors!.map(({ path }) => path).toSorted()).toEqual(["email", "password", "pasword"]);
    expect((await ask("GET", "/session/options")).body.setup).toBe(true);
  });

  it("creates one admin only, also for concurrent requests to several copies", async () => {
    const one = await testInstance();
    const copies = [await one.rest(), await (await testInstance({ stateDir: one.stateDir })).rest()];
    const token = (await copies[0]!.createSetupLink!())!.split("#")[1]!;
    const answers = await Promise.all(
      [0, 1, 0, 1, 0, 1].map((which, index) =>
        browserApi(copies[which]!.url).request("POST", "/session/setup", {
          token,
          email: `admin${index}@example.com`,
          password: PASSWORD,
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const codes = answers.filter(({ status }) => status !== 201).map(({ body }) => body.code as string);
    expect(codes.every((code) => code === "setup_done" || code === "link_expired")).toBe(true);
    expect(await one.read.users.count({})).toBe(1);
  });

  it("refuses short, simple and common passwords", async () => {
    const instance = await testInstance();
    const copy = await instance.rest();
    const token = (await copy.createSetupLink!())!.split("#")[1]!;
    const { request: ask } = browserApi(copy.url);
    for (const password of ["short", "password1234", "ann@example.com", "aaaaaaaaaaaaaa"]) {
      const answer = await ask("POST", "/session/setup", { token, email: ANN, password });
      expect(expectProblem(answer, "invalid_input").errors![0]!.path).toBe("password");
    }
    // The reference pool accepts eight characters of all four kinds.
    const answer = await ask("POST", "/session/setup", { token, email: ANN, password: "xK7#qLw2" });
    expect(answer.status).toBe(201);
  });
});

describe("signing in", () => {
  it("sets a new cookie each time, which scripts can't read and other sites can't send", async () => {
    const { url, browser } = await openWithAdmin();
    const first = browser.cookie;
    expect(browser.setCookie).toMatch(
      /^millrace_session=\w{32}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const answer = await browser.request("POST", "/session", {
      email: ANN.toUpperCase(),
      password: PASSWORD,
    });
    expect(answer.status).toBe(200);
    expect(browser.cookie).not.toBe(first);
    // The browser's previous session has ended.
    expectProblem(await browserApi(url, first).request("GET", "/session"), "unauthorized");
  });

  it("sets a __Host- cookie if people use https", async () => {
    const { browser } = await openWithAdmin({ env: { MILLRACE_BASE_URL: "https://mill.example.com" } });
    expect(browser.setCookie).toMatch(
      /^__Host-millrace=\w{32}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect((await browser.request("GET", "/session")).status).toBe(200);
  });

  it("gives the same answer for a wrong password, an unknown address and a deactivated user", async () => {
    const { instance, url } = await openWithAdmin();
    await addUser(instance, { email: "gone@example.com", status: "deactivated" });
    await addUser(instance, { email: "new@example.com", status: "invited" });
    const { request: ask } = browserApi(url);
    const details = [];
    for (const email of [ANN, "nobody@example.com", "gone@example.com", "new@example.com"]) {
      const answer = await ask("POST", "/session", { email, password: "not the right one" });
      details.push(expectProblem(answer, "sign_in_failed").detail);
    }
    expect(new Set(details).size).toBe(1);
  });

  it("signs in users whose addresses only earlier releases accepted", async () => {
    const { instance, url } = await openWithAdmin();
    const { passwordHash } = (await instance.read.users.findByEmail(ANN))!;
    for (const email of [`${"a".repeat(65)}@example.com`, "bob@example-.com"]) {
      await addUser(instance, { email, passwordHash });
      const answer = await browserApi(url).request("POST", "/session", { email, password: PASSWORD });
      expect([answer.status, answer.body.user?.email]).toEqual([200, email]);
      const reset = await browserApi(url).request("POST", "/session/password-reset", { email });
      expect(reset.status).toBe(202);
    }
  });

  it("limits guesses at one account, from any address, even for the right password", async () => {
    const { clock, url } = await openWithAdmin();
    const { request: ask } = browserApi(url);
    const guess = (password: string) => ask("POST", "/session", { email: ANN, password });
    for (let count = 0; count < 5; count += 1) expectProblem(await guess("wrong"), "sign_in_failed");
    const refused = await guess(PASSWORD);
    expect(expectProblem(refused, "too_many_attempts").detail).toMatch(/in 15 minutes/);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    clock.advance(16 * MINUTE);
    expect((await guess(PASSWORD)).status).toBe(200);
  });

  it.each(["sign_in", "set_up", "choose_password", "change_password"])(
    "checks the attempt limit before %s checks a password",
    async (name) => {
      const endpoint = sessionEndpoints.find((one) => one.name === name)!;
      const looked: string[] = [];
      const look = (what: string) => async () => void looked.push(what);
      const ctx = {
        address: "192.0.2.7",
        current: { user: { email: ANN }, session: {} },
        services: {},
        signIn: {
          throttle: { consume: () => Promise.reject(new Error("too many")) },
          passwords: {
            assertCapacity() {},
            hash: look("hash"),
            verify: look("verify"),
            validate: look("validate"),
          },
        },
      };
      const input = { email: ANN, password: "x", current_password: "x", token: "x" };
      await expect(endpoint.run(input, ctx as never)).rejects.toThrow("too many");
      expect(looked).toEqual([]);
    },
  );

  it("ends at sign-out, after idleness, and at its maximum age", async () => {
    const { clock, browser, url, instance } = await openWithAdmin();
    const old = browser.cookie;
    expect((await browser.request("DELETE", "/session")).status).toBe(204);
    expect(browser.setCookie).toMatch(/^millrace_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/);
    expectProblem(await browserApi(url, old).request("GET", "/session"), "unauthorized");
    expectProblem(await browserApi(url, old).request("GET", "/workflows"), "unauthorized");

    const ann = (await instance.read.users.findByEmail(ANN))!;
    const idle = browserApi(url, (await signIn(instance, ann)).cookie);
    clock.advance(3 * DAY - MINUTE);
    expect((await idle.request("GET", "/session")).status).toBe(200);
    clock.advance(3 * DAY - MINUTE);
    expect((await idle.request("GET", "/session")).status).toBe(200);
    clock.advance(3 * DAY);
    expectProblem(await idle.request("GET", "/session"), "unauthorized");

    const busy = browserApi(url, (await signIn(instance, ann)).cookie);
    for (let day = 0; day < 30; day += 1) {
      expect((await busy.request("GET", "/session")).status).toBe(200);
      clock.advance(DAY);
    }
    expectProblem(await busy.request("GET", "/session"), "unauthorized");
  });

  it("accepts changes only from our own pages", async () => {
    const { browser } = await openWithAdmin();
    const create = (headers: Record<string, string>) =>
      browser.request("POST", "/workflows", { name: "A", description: "" }, headers);
    expectProblem(await create({ "Sec-Fetch-Site": "cross-site" }), "forbidden_origin");
    expectProblem(await create({ "Sec-Fetch-Site": "same-site" }), "forbidden_origin");
    expect((await create({ "Sec-Fetch-Site": "same-origin" })).status).toBe(201);
    const signInFromElsewhere = await browser.request(
      "POST",
      "/session",
      { email: ANN, password: PASSWORD },
      { "Sec-Fetch-Site": "cross-site" },
    );
    expectProblem(signInFromElsewhere, "forbidden_origin");
    // Without a preflight request only forms can be sent, and forms are not JSON.
    const form = await browser.request("POST", "/session", undefined, { "Content-Type": "text/plain" });
    expect([400, 415]).toContain(form.status);
  });

  it("gives a session no access to MCP, and a key no access to the session endpoints", async () => {
    const { instance, browser, url } = await openWithAdmin();
    const mcp = await instance.mcp();
    const body = { jsonrpc: "2.0", id: 1, method: "ping" };
    const headers = { Accept: "application/json, text/event-stream" };
    const answer = await browserApi(mcp.url, browser.cookie).request("POST", "/mcp", body, headers);
    expect(answer.status).toBe(401);
    const { value } = await instance.key({ scopes: ["admin"] });
    expectProblem(await apiClient(url, value)("GET", "/session"), "unauthorized");
    expectProblem(
      await apiClient(url, value)("POST", "/api-keys", { name: "another" }, { "Idempotency-Key": "one" }),
      "person_needed",
    );
  });

  it("changes the password with the current one, and ends every other session", async () => {
    const { instance, browser, url } = await openWithAdmin();
    const ann = (await instance.read.users.findByEmail(ANN))!;
    const other = browserApi(url, (await signIn(instance, ann)).cookie);
    const change = (current_password: string, password: string) =>
      browser.request("POST", "/session/change-password", { current_password, password });
    expectProblem(await change("wrong", "another quiet river"), "sign_in_failed");
    expect((await change(PASSWORD, "another quiet river")).status).toBe(204);
    expect((await browser.request("GET", "/session")).status).toBe(200);
    expectProblem(await other.request("GET", "/session"), "unauthorized");
    const fresh = browserApi(url);
    const again = await fresh.request("POST", "/session", { email: ANN, password: "another quiet river" });
    expect(again.status).toBe(200);
  });

  it("writes no password and no token to the audit log", async () => {
    const { instance } = await openWithAdmin();
    const entries = await instance.read.audit.page({ filter: {}, before: null, limit: 100 });
    expect(entries.map(({ operation, owner, surface }) => [operation, owner, surface])).toEqual([
      ["set_up", ANN, "web"],
    ]);
    expect(JSON.stringify(entries)).not.toContain(PASSWORD);
  });
});

describe("a link in a mail", () => {
  it("verifies the first admin's address, once, within a day", async () => {
    const { browser, mail, url, clock } = await withMail();
    const token = await mail(1);
    const link = await browserApi(url).request("POST", "/session/link", { token });
    expect(link.body).toMatchObject({ kind: "verification", email: ANN });
    expect((await browserApi(url).request("POST", "/session/verification", { token })).status).toBe(204);
    expect((await browser.request("GET", "/session")).body.user.verified).toBe(true);
    expectProblem(await browserApi(url).request("POST", "/session/verification", { token }), "link_expired");

    expect((await browser.request("POST", "/session/verification-mail")).status).toBe(202);
    const second = await mail(2);
    clock.advance(24 * HOUR + 1);
    expectProblem(
      await browserApi(url).request("POST", "/session/verification", { token: second }),
      "link_expired",
    );
  });

  it("replaces a forgotten password, ends every session, and works once", async () => {
    const { browser, mail, url } = await withMail();
    await mail(1);
    const stranger = browserApi(url);
    const known = await stranger.request("POST", "/session/password-reset", { email: ANN });
    const unknown = await stranger.request("POST", "/session/password-reset", {
      email: "nobody@example.com",
    });
    expect([known.status, known.body]).toEqual([unknown.status, unknown.body]);
    expect(known.status).toBe(202);
    const token = await mail(2);
    const chosen = await stranger.request("POST", "/session/password", {
      token,
      password: "the mill wheel turns slowly",
    });
    expect(chosen.body.user).toMatchObject({ email: ANN, verified: true });
    expect((await stranger.request("GET", "/session")).status).toBe(200);
    expectProblem(await browser.request("GET", "/session"), "unauthorized");
    expectProblem(
      await browserApi(url).request("POST", "/session/password", {
        token,
        password: "the mill wheel turns slowly",
      }),
      "link_expired",
    );
    const old = await browserApi(url).request("POST", "/session", { email: ANN, password: PASSWORD });
    expectProblem(old, "sign_in_failed");
  });

  it("accepts an invitation, and refuses the user after deactivation", async () => {
    const { browser, mail, url } = await withMail();
    await mail(1);
    const headers = { "Idempotency-Key": "invite-1" };
    const invited = await browser.request(
      "POST",
      "/users",
      { email: "bea@example.com", role: "viewer" },
      headers,
    );
    expect(invited.status).toBe(201);
    expect(invited.body).toMatchObject({ sent: true, link: null, user: { status: "invited" } });
    const token = await mail(2);
    const bea = browserApi(url);
    const begun = await bea.request("POST", "/session/password", {
      token,
      password: "reading is enough for me",
    });
    expect(begun.body.user).toMatchObject({ email: "bea@example.com", role: "viewer", scopes: ["read"] });
    expectProblem(await bea.request("POST", "/workflows", { name: "A", description: "" }), "missing_scope");
    expectProblem(await bea.request("GET", "/users"), "missing_scope");

    const { id } = invited.body.user as { id: string };
    const off = await browser.request("PATCH", `/users/${id}`, { status: "deactivated" });
    expect(off.status).toBe(200);
    expectProblem(await bea.request("GET", "/session"), "unauthorized");
  });
});

const counted = async (instance: Awaited<ReturnType<typeof testInstance>>): Promise<boolean> =>
  (await instance.store.read.selectFrom("attempt_counts").select("key").where("count", ">", 0).execute())
    .length >= 3;

/** A server whose password hashes take long enough for a concurrent change. */
async function slow() {
  const instance = await testInstance();
  const passwords = { parameters: { logN: 14, r: 8, p: 1 } };
  const { url, createSetupLink } = await instance.rest({ passwords });
  const admin = browserApi(url);
  const token = (await createSetupLink!())!.split("#")[1]!;
  await admin.request("POST", "/session/setup", { token, email: ANN, password: PASSWORD });
  const ann = (await instance.read.users.findByEmail(ANN))!;
  const replace = (passwordHash: string) =>
    instance.store.transaction((trx) => userWriter(trx).update(ann.id, { passwordHash }));
  const deactivate = () =>
    instance.store.transaction((trx) => userWriter(trx).update(ann.id, { status: "deactivated" }));
  return { instance, url, admin, ann, replace, deactivate };
}

describe("a password that changes during a sign-in with the old one", () => {
  it("stays changed, and the sign-in is refused", async () => {
    const { instance, url, replace } = await slow();
    const thief = browserApi(url);
    const signingIn = thief.request("POST", "/session", { email: ANN, password: PASSWORD });
    await eventually(async () => ((await counted(instance)) ? true : undefined), "the attempt being counted");
    await replace("of the new one");
    const answer = await signingIn;
    expect([401, 503]).toContain(answer.status);
    expect((await instance.read.users.findByEmail(ANN))!.passwordHash).toBe("of the new one");
    expectProblem(await thief.request("GET", "/session"), "unauthorized");
  });

  it("stays changed, and a concurrent change is refused", async () => {
    const { instance, admin, replace } = await slow();
    const changing = admin.request("POST", "/session/change-password", {
      current_password: PASSWORD,
      password: "another quiet river",
    });
    await eventually(async () => ((await counted(instance)) ? true : undefined), "the attempt being counted");
    await replace("of the new one");
    expect((await changing).status).not.toBe(204);
    expect((await instance.read.users.findByEmail(ANN))!.passwordHash).toBe("of the new one");
  });

  it("creates no session for a user who was deactivated meanwhile", async () => {
    const { instance, url, ann, deactivate } = await slow();
    const signingIn = browserApi(url).request("POST", "/session", { email: ANN, password: PASSWORD });
    await eventually(async () => ((await counted(instance)) ? true : undefined), "the attempt being counted");
    await deactivate();
    expect([401, 503]).toContain((await signingIn).status);
    const sessions = await instance.store.read.selectFrom("sessions").select("user_id").execute();
    expect(sessions.filter(({ user_id }) => user_id === ann.id)).toHaveLength(1);
  });
});

describe("the session endpoints", () => {
  it("read at most 8 KiB and decompress nothing", async () => {
    const copy = await (await testInstance()).rest();
    const send = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
      const response = await fetch(`${copy.url}/session`, {
        method: "POST",
        body: body,
        headers: { "Content-Type": "application/json", ...headers },
      });
      return toApiResponse(response);
    };
    const text = JSON.stringify({ email: ANN, password: PASSWORD, ["e".repeat(7_000)]: 0 });
    const { errors, detail } = expectProblem(await send(text), "invalid_input");
    expect(JSON.stringify([errors, detail]).length).toBeLessThan(1_000);
    for (const encoding of ["gzip", "deflate", "br", "gzip, gzip"]) {
      const refused = await send(gzipSync(text), { "Content-Encoding": encoding });
      expect(expectProblem(refused, "unsupported_media_type").detail).toContain("must not be compressed");
    }
    expect(expectProblem(await send(text, { "Content-Encoding": "identity" }), "invalid_input").code).toBe(
      "invalid_input",
    );
    const large = expectProblem(
      await send(JSON.stringify({ email: "x".repeat(8_192) })),
      "payload_too_large",
    );
    expect(large.detail).toBe("The body is larger than 8 KiB. Send less.");
    const client = await socketClient(copy.url);
    client.send(
      "POST /session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    client.send(`2400\r\n${"x".repeat(0x2400)}\r\n0\r\n\r\n`);
    await client.waitFor("HTTP/1.1 413");
  });

  it("return where agents connect, for any Host or forwarded host", async () => {
    const { browser, url } = await openWithAdmin({ env: { MILLRACE_TRUSTED_PROXIES: "127.0.0.1" } });
    const mcpUrl = async (host: string, forwarded?: string): Promise<unknown> => {
      const client = await socketClient(url);
      client.send(
        formatRequest("GET", "/session", {
          Host: host,
          ...(forwarded !== undefined && { "X-Forwarded-Host": forwarded }),
          Cookie: browser.cookie!,
          Connection: "close",
        }),
      );
      await client.ended;
      const [head, body] = client.received().split("\r\n\r\n") as [string, string];
      expect([host, head.split("\r\n")[0]]).toEqual([host, "HTTP/1.1 200 OK"]);
      return (JSON.parse(body) as { mcp_url: unknown }).mcp_url;
    };
    expect(await mcpUrl("mill.example.com:3000")).toBe("http://mill.example.com:8000");
    expect(await mcpUrl("[::1]:3000")).toBe("http://[::1]:8000");
    expect(await mcpUrl("")).toBe("http://127.0.0.1:8000");
    expect(await mcpUrl("localhost", "mill.example.com")).toBe("http://mill.example.com:8000");
    for (const host of ["a b", "[", "a<script>", "[::1", "a/b", "a?b", "a#b", "me@evil", ":80", "%"])
      expect([host, await mcpUrl("localhost", host)]).toEqual([host, "http://127.0.0.1:8000"]);
  });

  it.each(["https://mcp.example.com", "https://mcp.example.com/mcp", "https://mcp.example.com/sse/"])(
    "return mcp.example.com for agents if MILLRACE_MCP_URL is %s",
    async (MILLRACE_MCP_URL) => {
      const { browser } = await openWithAdmin({ env: { MILLRACE_MCP_URL } });
      expect((await browser.request("GET", "/session")).body.mcp_url).toBe("https://mcp.example.com");
    },
  );

  it("clear the browser's cache at sign-out", async () => {
    const { browser } = await openWithAdmin();
    const out = await browser.request("DELETE", "/session");
    expect([out.status, out.headers.get("clear-site-data")]).toEqual([204, '"cache"']);
    expect((await browser.request("GET", "/session/options")).headers.get("clear-site-data")).toBeNull();
  });

  it("accept the newest setup token only, for a day", async () => {
    const clock = fakeClock();
    const instance = await testInstance({ clock });
    const copy = await instance.rest();
    const { request: ask } = browserApi(copy.url);
    const statusOf = async (link: string) =>
      (await ask("POST", "/session/link", { token: link.split("#")[1] })).status;
    const first = (await copy.createSetupLink!())!;
    const second = (await copy.createSetupLink!())!;
    expect([await statusOf(first), await statusOf(second)]).toEqual([410, 200]);
    expect(await instance.store.read.selectFrom("account_links").select("kind").execute()).toHaveLength(1);
    clock.advance(DAY - 1);
    expect(await statusOf(second)).toBe(200);
    clock.advance(1);
    expect(await statusOf(second)).toBe(410);
  });
});
