/** Second factors over the session endpoints, and attacks on them. */
import * as otpauth from "otpauth";
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../src/core/clock.ts";
import { browserApi, type BrowserApi } from "../support/browser-api.ts";
import { eventually } from "../support/eventually.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { smtpPeer } from "../support/mock-smtp-server.ts";
import { softwarePasskey } from "../support/passkeys.ts";
import { expectProblem } from "../support/rest.ts";

const PASSWORD = "a quiet river at night";
const ANN = "ann@example.com";
const BEN = "ben@example.com";

type Options = Parameters<Awaited<ReturnType<typeof testInstance>>["rest"]>[0];

/** A server whose admin Ann is signed in. */
async function open(options: Options = {}) {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const copy = await instance.rest(options);
  const { url } = copy;
  const ann = browserApi(url);
  const token = (await copy.createSetupLink!())!.split("#")[1]!;
  await ok(ann, "POST", "/session/setup", { token, email: ANN, password: PASSWORD });
  const code = (secret: string, steps = 0): string =>
    new otpauth.TOTP({ secret }).generate({ timestamp: clock.now() + steps * 30 * SECOND });
  return { clock, instance, copy, url, ann, code, origin: url.replace("127.0.0.1", "localhost") };
}

/** The body of a successful answer. */
async function ok(browser: BrowserApi, ...request: Parameters<BrowserApi["request"]>) {
  const answer = await browser.request(...request);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

/** Adds an authenticator app to a signed-in user. */
async function addTotp(browser: BrowserApi, code: (secret: string) => string, name = "Phone") {
  const { secret } = await ok(browser, "POST", "/session/factors/totp", {});
  const added = await ok(browser, "POST", "/session/factors/totp/confirm", { code: code(secret), name });
  return { secret: secret as string, codes: added.recovery_codes as string[] };
}

/** A challenge to add a passkey. */
const registrationFor = async (browser: BrowserApi) =>
  (await ok(browser, "POST", "/session/factors/passkey/options", {})).options;

const registerPasskey = (browser: BrowserApi, registration: object) =>
  browser.request("POST", "/session/factors/passkey", { name: "x", passkey: registration });

async function addPasskey(browser: BrowserApi, origin: string, name = "Laptop") {
  const passkey = softwarePasskey(origin);
  const options = await registrationFor(browser);
  const added = await ok(browser, "POST", "/session/factors/passkey", {
    name,
    passkey: passkey.register(options),
  });
  return { passkey, id: added.factor.id as string, codes: added.recovery_codes };
}

/** A server that learns the address of a browser from a proxy. */
const BEHIND_PROXY: Options = { env: { MILLRACE_TRUSTED_PROXIES: "127.0.0.1" } };
const from = (host: number) => ({ "X-Forwarded-For": `192.0.2.${host}` });

/** A browser whose password was right, and whose second step is open. */
async function begin(url: string, email = ANN, password = PASSWORD, headers = {}): Promise<BrowserApi> {
  const browser = browserApi(url);
  const body = await ok(browser, "POST", "/session", { email, password }, headers);
  expect(body.second_factor.methods.length).toBeGreaterThan(0);
  return browser;
}

const step = (browser: BrowserApi, proof: object, headers = {}) =>
  browser.request("POST", "/session/second-factor", proof, headers);

/** A challenge to sign in with a passkey. */
const challengeFor = async (browser: BrowserApi) =>
  (await ok(browser, "POST", "/session/second-factor/passkey", {})).options;

/** A second person, signed in. @param mails where the invitation goes; without a mail server its link is in the answer */
async function addBen(admin: BrowserApi, url: string, role = "editor", mails?: readonly string[]) {
  const created = await ok(admin, "POST", "/users", { email: BEN, role });
  const mailed = (): string | undefined =>
    /http:\S+\/ui\/link#\w{32}/.exec(mails?.at(-1)?.replaceAll("=\r\n", "") ?? "")?.[0];
  const link: string = created.link ?? (await eventually(mailed, "the invitation"));
  const browser = browserApi(url);
  await ok(browser, "POST", "/session/password", { token: link.split("#")[1], password: PASSWORD });
  return browser;
}

describe("an authenticator app", () => {
  it("is asked for after the password; the secret is shown once and stored sealed", async () => {
    const { ann, url, code, clock, instance } = await open();
    const { secret, codes } = await addTotp(ann, code);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(new Set(codes).size).toBe(10);
    const listed = await ok(ann, "GET", "/session/factors");
    expect(listed).toMatchObject({ factors: [{ kind: "totp", name: "Phone" }], recovery_codes: 10 });
    const tables = ["second_factors", "factor_challenges", "recovery_codes", "audit_log"] as const;
    for (const table of tables) {
      const rows = await instance.store.read.selectFrom(table).selectAll().execute();
      const stored = rows.map((row) => Object.values(row).map((value) => String(value)));
      for (const hidden of [secret, ...codes]) expect(JSON.stringify([stored, listed])).not.toContain(hidden);
    }

    clock.advance(MINUTE);
    const browser = await begin(url);
    expect(browser.setCookie).toMatch(
      /^millrace_second_step=\w{32}; Max-Age=600; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    // The cookie opens nothing else.
    for (const [method, path] of [
      ["GET", "/session"],
      ["GET", "/workflows"],
      ["GET", "/session/factors"],
      ["POST", "/session/factors/totp"],
    ] as const)
      expectProblem(await browser.request(method, path), "unauthorized");
    const done = await step(browser, { code: ` ${code(secret).slice(0, 3)} ${code(secret).slice(3)} ` });
    expect(done).toMatchObject({ status: 200, body: { user: { email: ANN, second_factor: "set_up" } } });
    expect((await ok(browser, "GET", "/session")).user.email).toBe(ANN);
    const log = await ok(browser, "GET", "/audit-log");
    expect(log.slice(0, 3)).toMatchObject([
      { operation: "complete_sign_in", details: { second_factor: "totp", name: "Phone" } },
      { operation: "sign_in.password" },
      { operation: "add_totp", details: { kind: "totp", name: "Phone" } },
    ]);
  });

  it("is used once for each code, also by two sign-ins at the same moment, and not after its set-up", async () => {
    const { ann, url, code, clock } = await open();
    const { secret } = await addTotp(ann, code);
    expectProblem(await step(await begin(url), { code: code(secret) }), "second_factor_failed");
    clock.advance(MINUTE);
    const [one, other] = [await begin(url), await begin(url)];
    const answers = await Promise.all([one, other].map((browser) => step(browser, { code: code(secret) })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
    expectProblem(await step(await begin(url), { code: code(secret) }), "second_factor_failed");
    // A later code of the window makes the earlier one useless.
    clock.advance(2 * MINUTE);
    expect((await step(await begin(url), { code: code(secret, 1) })).status).toBe(200);
    expectProblem(await step(await begin(url), { code: code(secret) }), "second_factor_failed");
  });

  it("accepts the codes of 30 seconds before and after, and no others", async () => {
    const { ann, url, code, clock } = await open();
    const { secret } = await addTotp(ann, code);
    clock.advance(10 * MINUTE);
    for (const steps of [-2, 2])
      expectProblem(await step(await begin(url), { code: code(secret, steps) }), "second_factor_failed");
    for (const steps of [-1, 1]) {
      expect((await step(await begin(url), { code: code(secret, steps) })).status).toBe(200);
    }
  });

  it("can't be guessed: ten codes an hour for an account, five from one address", async () => {
    const { ann, url, code, clock } = await open();
    const { secret } = await addTotp(ann, code);
    clock.advance(MINUTE);
    for (let count = 0; count < 5; count += 1)
      expectProblem(await step(await begin(url), { code: "000000" }), "second_factor_failed");
    expectProblem(await step(await begin(url), { code: code(secret) }), "too_many_attempts");
    clock.advance(16 * MINUTE);
    for (let count = 0; count < 5; count += 1)
      expectProblem(await step(await begin(url), { code: "000000" }), "second_factor_failed");
    clock.advance(16 * MINUTE);
    expectProblem(await step(await begin(url), { code: code(secret) }), "too_many_attempts");
    clock.advance(HOUR);
    expect((await step(await begin(url), { code: code(secret) })).status).toBe(200);
  });

  it("belongs to one person and one sign-in", async () => {
    const { ann, url, code, clock } = await open();
    const ben = await addBen(ann, url);
    const [hers, his] = [await addTotp(ann, code), await addTotp(ben, code)];
    clock.advance(MINUTE);
    expectProblem(await step(await begin(url, BEN), { code: code(hers.secret) }), "second_factor_failed");
    expectProblem(
      await step(await begin(url, BEN), { recovery_code: hers.codes[0] }),
      "second_factor_failed",
    );
    const pending = await begin(url, BEN);
    const { cookie } = pending;
    expect((await step(pending, { code: code(his.secret) })).body.user.email).toBe(BEN);
    // A second step is finished once.
    clock.advance(MINUTE);
    expectProblem(await step(browserApi(url, cookie), { code: code(his.secret) }), "sign_in_expired");
    expectProblem(await step(browserApi(url), { code: code(his.secret) }), "sign_in_expired");
  });

  it("refuses a second step after ten minutes, with a changed password, and for a deactivated user", async () => {
    const { ann, url, code, clock, instance } = await open();
    const ben = await addBen(ann, url);
    const { secret } = await addTotp(ben, code);
    clock.advance(MINUTE);
    const late = await begin(url, BEN);
    clock.advance(10 * MINUTE);
    expectProblem(await step(late, { code: code(secret) }), "sign_in_expired");
    // The code is right: only the step was too late.
    expect((await step(await begin(url, BEN), { code: code(secret) })).status).toBe(200);
    clock.advance(MINUTE);
    const before = await begin(url, BEN);
    const next = "the mill is not moving";
    await ok(ben, "POST", "/session/change-password", { current_password: PASSWORD, password: next });
    expectProblem(await step(before, { code: code(secret) }), "sign_in_expired");
    const pending = await begin(url, BEN, next);
    const { id } = (await instance.read.users.findByEmail(BEN))!;
    await ok(ann, "PATCH", `/users/${id}`, { status: "deactivated" });
    expectProblem(await step(pending, { code: code(secret) }), "sign_in_expired");
  });

  it("keeps at most 20 second steps of a person open from one address, the newest ones", async () => {
    const { ann, url, code, clock, instance } = await open(BEHIND_PROXY);
    const { secret } = await addTotp(ann, code);
    const elsewhere = await begin(url, ANN, PASSWORD, from(7));
    const oldest = await begin(url);
    for (let count = 0; count < 20; count += 1) {
      clock.advance(SECOND);
      await begin(url);
    }
    const rows = await instance.store.read.selectFrom("factor_challenges").selectAll().execute();
    expect(rows).toHaveLength(21);
    clock.advance(MINUTE);
    expectProblem(await step(oldest, { code: code(secret) }), "sign_in_expired");
    expect((await step(elsewhere, { code: code(secret) })).status).toBe(200);
  });

  it("leaves the owner's recovery codes and passkeys usable while somebody with the password tries codes", async () => {
    const { ann, url, code, clock, origin } = await open(BEHIND_PROXY);
    const { secret, codes } = await addTotp(ann, code);
    const { passkey } = await addPasskey(ann, origin);
    clock.advance(MINUTE);
    const mine = await begin(url);
    const challenge = await challengeFor(mine);
    for (const host of [1, 2]) {
      const thief = await begin(url, ANN, PASSWORD, from(host));
      for (let count = 0; count < 5; count += 1)
        expectProblem(await step(thief, { code: "000000" }, from(host)), "second_factor_failed");
      // Challenges of the thief's own sign-in don't end those of the owner's.
      for (let count = 0; count < 21; count += 1) {
        clock.advance(SECOND);
        await thief.request("POST", "/session/second-factor/passkey", {}, from(host));
      }
    }
    // Six digits can be guessed: ten an hour for the account, wherever they come from.
    expectProblem(await step(await begin(url), { code: code(secret) }), "too_many_attempts");
    expect((await step(mine, { passkey: passkey.assert(challenge) })).status).toBe(200);
    expect((await step(await begin(url), { recovery_code: codes[0] })).status).toBe(200);
    // Guesses at recovery codes are limited by address.
    const guessed = await begin(url, ANN, PASSWORD, from(3));
    const answers: number[] = [];
    for (let count = 0; count < 31; count += 1)
      answers.push((await step(guessed, { recovery_code: "aaaa-aaaa-aaaa-aaaa" }, from(3))).status);
    expect(answers).toEqual([...Array<number>(30).fill(401), 429]);
    expect((await step(await begin(url), { recovery_code: codes[1] })).status).toBe(200);
  });

  it("is asked for after a password was reset by a link, too", async () => {
    const { ann, url, code, instance, clock } = await open();
    const ben = await addBen(ann, url);
    const { secret } = await addTotp(ben, code);
    const { id } = (await instance.read.users.findByEmail(BEN))!;
    const { link } = await ok(ann, "POST", `/users/${id}/password-reset`, {});
    const thief = browserApi(url);
    const token = link.split("#")[1];
    const body = await ok(thief, "POST", "/session/password", { token, password: "the mill is not moving" });
    expect(body.second_factor.methods).toEqual(["totp", "recovery_code"]);
    expectProblem(await thief.request("GET", "/session"), "unauthorized");
    clock.advance(MINUTE);
    expect((await step(thief, { code: code(secret) })).status).toBe(200);
  });
});

describe("setting up a second factor", () => {
  it("needs a recent sign-in or confirmation, with the password or a factor, and ends other sessions", async () => {
    const { ann, url, code, clock } = await open();
    const elsewhere = browserApi(url);
    await ok(elsewhere, "POST", "/session", { email: ANN, password: PASSWORD });
    clock.advance(11 * MINUTE);
    for (const path of ["totp", "totp/confirm", "passkey/options", "remove", "recovery-codes"])
      expectProblem(
        await ann.request("POST", `/session/factors/${path}`, {
          ...(path === "totp/confirm" && { code: "123456", name: "x" }),
          ...(path === "remove" && { factor_id: "fac_x" }),
        }),
        "reauthentication_required",
      );
    expectProblem(
      await ann.request("POST", "/session/confirmation", { password: "wrong" }),
      "sign_in_failed",
    );
    expectProblem(await ann.request("POST", "/session/confirmation", {}), "invalid_input");
    await ok(ann, "POST", "/session/confirmation", { password: PASSWORD });
    const { secret } = await addTotp(ann, code);
    expectProblem(await elsewhere.request("GET", "/session"), "unauthorized");
    clock.advance(11 * MINUTE);
    await ok(ann, "POST", "/session/confirmation", { code: code(secret) });
    await ok(ann, "POST", "/session/factors/recovery-codes", {});
    // The code of a confirmation is no code for a sign-in.
    expectProblem(await step(await begin(url), { code: code(secret) }), "second_factor_failed");
    clock.advance(MINUTE);
    expect((await step(await begin(url), { code: code(secret) })).status).toBe(200);
  });

  it("is bound to its session, to ten minutes and to our own pages", async () => {
    const { ann, url, code, clock } = await open();
    const other = browserApi(url);
    await ok(other, "POST", "/session", { email: ANN, password: PASSWORD });
    const { secret } = await ok(other, "POST", "/session/factors/totp", {});
    const confirm = (browser: BrowserApi, headers = {}) =>
      browser.request("POST", "/session/factors/totp/confirm", { code: code(secret), name: "x" }, headers);
    expectProblem(await confirm(ann), "sign_in_expired");
    expectProblem(await confirm(other, { "Sec-Fetch-Site": "cross-site" }), "forbidden_origin");
    expectProblem(await confirm(other, { "Sec-Fetch-Site": "same-site" }), "forbidden_origin");
    expectProblem(
      await other.request("POST", "/session/factors/totp/confirm", { code: "000000", name: "x" }),
      "second_factor_failed",
    );
    clock.advance(10 * MINUTE);
    await ok(other, "POST", "/session/confirmation", { password: PASSWORD });
    expectProblem(await confirm(other), "sign_in_expired");
    expect((await ok(ann, "GET", "/session/factors")).factors).toEqual([]);
  });

  it("keeps at most ten, and recovery codes until the last one is removed", async () => {
    const { ann, code, clock } = await open();
    for (let count = 0; count < 10; count += 1) {
      await addTotp(ann, code, `Phone ${count}`);
      clock.advance(20 * SECOND);
    }
    const { secret } = await ok(ann, "POST", "/session/factors/totp", {});
    const confirmed = { code: code(secret), name: "One more" };
    expectProblem(await ann.request("POST", "/session/factors/totp/confirm", confirmed), "too_many_factors");
    const { factors } = await ok(ann, "GET", "/session/factors");
    for (const { id } of factors) await ok(ann, "POST", "/session/factors/remove", { factor_id: id });
    expect(await ok(ann, "GET", "/session/factors")).toMatchObject({ factors: [], recovery_codes: 0 });
    expect((await ok(ann, "GET", "/session")).user.second_factor).toBe("none");
  });
});

describe("recovery codes", () => {
  it("work once each, also at the same moment, and not after new ones were made", async () => {
    const { ann, url, code } = await open();
    const { codes } = await addTotp(ann, code);
    const typed = codes[0]!.toUpperCase().replaceAll("-", " ");
    const [one, other] = [await begin(url), await begin(url)];
    const answers = await Promise.all([one, other].map((browser) => step(browser, { recovery_code: typed })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
    expect((await ok(ann, "GET", "/session/factors")).recovery_codes).toBe(9);
    const renewed = await ok(ann, "POST", "/session/factors/recovery-codes", {});
    expectProblem(await step(await begin(url), { recovery_code: codes[1] }), "second_factor_failed");
    expect((await step(await begin(url), { recovery_code: renewed.recovery_codes[1] })).status).toBe(200);
  });
});

describe("a passkey", () => {
  it("signs in, for the host of the base URL, and its counter goes on", async () => {
    const { ann, url, origin, instance } = await open();
    const { passkey, codes } = await addPasskey(ann, origin);
    expect(codes).toHaveLength(10);
    for (const count of [1, 2]) {
      const browser = await begin(url);
      const options = await challengeFor(browser);
      expect(options).toMatchObject({ rpId: "localhost", allowCredentials: [{ id: passkey.id }] });
      expect((await step(browser, { passkey: passkey.assert(options) })).status).toBe(200);
      const { id } = (await instance.read.users.findByEmail(ANN))!;
      expect(await instance.read.factors.list(id)).toMatchObject([{ counter: count }]);
    }
  });

  it("answers a challenge once, for the sign-in and the person that it was made for", async () => {
    const { ann, url, origin } = await open();
    const ben = await addBen(ann, url);
    const { passkey: hers } = await addPasskey(ann, origin);
    const { passkey: his } = await addPasskey(ben, origin);
    const [one, other, bens] = [await begin(url), await begin(url), await begin(url, BEN)];
    const refused = async (browser: BrowserApi, passkey: object) =>
      expectProblem(await step(browser, { passkey }), "second_factor_failed");
    const options = await challengeFor(one);
    const answer = hers.assert(options);
    // Another sign-in of hers, another person's sign-in, and another person's passkey.
    await refused(other, answer);
    await refused(bens, answer);
    await refused(one, his.assert(options));
    // A challenge that was answered wrongly is over.
    await refused(one, answer);
    const right = hers.assert(await challengeFor(one));
    const answers = await Promise.all([step(one, { passkey: right }), step(other, { passkey: right })]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
    await refused(other, right);
    // Nobody can answer with a challenge of their own.
    await refused(other, hers.assert({ ...options, challenge: "AQIDBAUGBwg" }));
  });

  it("is refused for another origin, another host, a counter that goes back, and after ten minutes", async () => {
    const { ann, url, origin, clock } = await open();
    const { passkey } = await addPasskey(ann, origin);
    const attempt = async (
      change: (passkey: ReturnType<typeof softwarePasskey>) => void,
      rpId = "localhost",
    ) => {
      const browser = await begin(url);
      const options = await challengeFor(browser);
      change(passkey);
      return step(browser, { passkey: passkey.assert({ ...options, rpId }) });
    };
    expect((await attempt((one) => void (one.counter = 7))).status).toBe(200);
    expectProblem(await attempt((one) => void (one.counter = 3)), "second_factor_failed");
    passkey.counter = 20;
    const elsewhere = (one: typeof passkey) => void (one.origin = "http://localhost:1");
    expectProblem(await attempt(elsewhere), "second_factor_failed");
    passkey.origin = origin;
    expectProblem(await attempt(() => {}, "evil.example.com"), "second_factor_failed");
    expectProblem(await attempt(() => clock.advance(10 * MINUTE)), "sign_in_expired");
    expect((await attempt(() => {})).status).toBe(200);
  });

  it("is not added for the challenge of another session, or a second time", async () => {
    const { ann, url, origin } = await open();
    const ben = await addBen(ann, url);
    const { passkey } = await addPasskey(ann, origin);
    const mine = softwarePasskey(origin);
    expectProblem(
      await registerPasskey(ben, mine.register(await registrationFor(ann))),
      "second_factor_failed",
    );
    expectProblem(
      await registerPasskey(ben, passkey.register(await registrationFor(ben))),
      "second_factor_failed",
    );
    const options = await registrationFor(ben);
    const far = softwarePasskey("https://evil.example.com");
    expectProblem(await registerPasskey(ben, far.register(options)), "second_factor_failed");
    expectProblem(await registerPasskey(ben, mine.register(options)), "second_factor_failed");
    expect((await registerPasskey(ben, mine.register(await registrationFor(ben)))).status).toBe(200);
  });

  it("is added only with the id that the browser named, of at most 1,023 bytes", async () => {
    const { ann, origin } = await open();
    const add = async (idBytes: number, named?: string) => {
      const registration = softwarePasskey(origin, idBytes).register(await registrationFor(ann));
      return registerPasskey(ann, { ...registration, ...(named !== undefined && { id: named }) });
    };
    // The id in the signed data can be long where the one beside it is short.
    expectProblem(await add(2_000, "AQIDBA"), "second_factor_failed");
    expectProblem(await add(16, "AQIDBA"), "second_factor_failed");
    expectProblem(await add(1_024), "second_factor_failed");
    expect((await add(1_023)).status).toBe(200);
  });

  it("needs a host name: not where the base URL has an IP address", async () => {
    const { ann } = await open({ env: { MILLRACE_BASE_URL: "https://192.0.2.7" } });
    expect((await ok(ann, "GET", "/session/factors")).passkey_origin).toBeNull();
    expectProblem(await ann.request("POST", "/session/factors/passkey/options", {}), "passkeys_unavailable");
  });
});

describe("a role that requires a second factor", () => {
  const required = { config: { authentication: { second_factor: { required_for: ["editor" as const] } } } };

  it("lets a session from before do nothing but set one up, and keys work on", async () => {
    const { ann, url, code, instance } = await open();
    const ben = await addBen(ann, url);
    const key = await ok(ben, "POST", "/api-keys", { name: "ci" });
    const copy = await instance.rest(required);
    const old = browserApi(copy.url, ben.cookie);
    expect((await ok(old, "GET", "/session")).user.second_factor).toBe("missing");
    for (const [method, path, body] of [
      ["GET", "/workflows"],
      ["GET", "/sessions"],
      ["GET", "/api-keys"],
      ["POST", "/api-keys", { name: "more" }],
      ["GET", "/session/authorization?request=x"],
      [
        "POST",
        "/session/change-password",
        { current_password: PASSWORD, password: "the mill is not moving" },
      ],
    ] as const)
      expectProblem(await old.request(method, path, body), "second_factor_required");
    expect((await fetch(`${copy.url}/workflows`, { headers: { "X-API-Key": key.value } })).status).toBe(200);
    // Signing in again changes nothing about that.
    const fresh = browserApi(copy.url);
    await ok(fresh, "POST", "/session", { email: BEN, password: PASSWORD });
    expectProblem(await fresh.request("GET", "/workflows"), "second_factor_required");
    await addTotp(fresh, code);
    expect((await fresh.request("GET", "/workflows")).status).toBe(200);
    // Of Ann's role nothing is required.
    expect((await browserApi(copy.url, ann.cookie).request("GET", "/workflows")).status).toBe(200);
  });

  it("keeps the last factor, also when two are removed at the same moment", async () => {
    const { ann, url, code, origin } = await open(required);
    const ben = await addBen(ann, url);
    await addTotp(ben, code);
    await addPasskey(ben, origin);
    const { factors } = await ok(ben, "GET", "/session/factors");
    const answers = await Promise.all(
      factors.map(({ id }: { id: string }) =>
        ben.request("POST", "/session/factors/remove", { factor_id: id }),
      ),
    );
    const codes: string[] = answers.map(({ status, body }) => (status === 204 ? "removed" : body.code));
    expect(codes.toSorted()).toEqual(["last_factor", "removed"]);
    expect((await ok(ben, "GET", "/session/factors")).factors).toHaveLength(1);
  });
});

describe("lost factors", () => {
  it("are reset by an admin, which ends the sessions and is mailed, as every change is", async () => {
    const peer = await smtpPeer();
    const basic = {
      smtp_user: "mill@example.com",
      smtp_password_var: "MAIL",
      smtp_server: "127.0.0.1",
      smtp_port: peer.port,
    };
    const { ann, url, code, instance } = await open({
      config: { authentication: { basic } },
      env: { MAIL: "secret" },
    });
    const ben = await addBen(ann, url, "editor", peer.received);
    const invited = peer.received.length;
    const subjects = async (count: number) => {
      await eventually(() => peer.received[count - 1], `mail ${count}`);
      return peer.received.map((raw) => /^Subject: (.*(?:\r\n .*)*)/m.exec(raw)![1]!.replaceAll("\r\n", ""));
    };
    const { codes } = await addTotp(ben, code);
    await step(await begin(url, BEN), { recovery_code: codes[0] });
    await subjects(invited + 2);
    await ok(ben, "POST", "/session/confirmation", { recovery_code: codes[1] });
    const confirmed = (await subjects(invited + 3))[invited + 2];
    expect(confirmed).toContain("Recovery code used");
    await ok(ben, "POST", "/session/factors/recovery-codes", {});
    const { id } = (await instance.read.users.findByEmail(BEN))!;
    const listed = (await ok(ann, "GET", "/users")).find(({ email }: { email: string }) => email === BEN);
    expect(listed).toMatchObject({ second_factor: true });
    expect(await ok(ann, "POST", `/users/${id}/reset-factors`, {})).toEqual({ removed: 1 });
    expectProblem(await ben.request("GET", "/session"), "unauthorized");
    const again = browserApi(url);
    expect((await ok(again, "POST", "/session", { email: BEN, password: PASSWORD })).user.email).toBe(BEN);
    const log = await ok(ann, "GET", "/audit-log?operation=reset_user_factors");
    expect(log).toMatchObject([{ target: BEN, owner: ANN, details: { factors: 1 } }]);
    const said = (await subjects(invited + 5)).join("\n");
    for (const subject of [
      "New second factor",
      "Recovery code used",
      "New recovery codes",
      "factors removed",
    ])
      expect(said).toContain(subject);
  });

  it("are not one's own: an admin's session changes these on its own page, after a confirmation", async () => {
    const { ann, code, clock, instance } = await open();
    await addTotp(ann, code);
    clock.advance(11 * MINUTE);
    const { id } = (await instance.read.users.findByEmail(ANN))!;
    const refused = await ann.request("POST", `/users/${id}/reset-factors`, {});
    expectProblem(refused, "invalid_input");
    expect(JSON.stringify(refused.body)).toContain("Account → Two-factor authentication");
    expect((await ok(ann, "GET", "/session/factors")).factors).toHaveLength(1);
  });
});
