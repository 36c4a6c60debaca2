import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { endUserAbsence, setUserAbsence } from "../../src/commands/absences.ts";
import * as users from "../../src/commands/users.ts";
import { type Io, describeError } from "../../src/commands/io.ts";
import { DAY, iso } from "../../src/core/clock.ts";
import { newRequestId } from "../../src/core/ids.ts";
import { catalogue } from "../../tools/index.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { browserApi } from "../support/browser-api.ts";
import { testInstance, type TestInstance } from "../support/instance.ts";
import { addUser, keyPrincipal } from "../support/users.ts";
import { runCommand } from "../support/process.ts";
import { expectProblem } from "../support/rest.ts";
import { smtpPeer } from "../support/mock-smtp-server.ts";

const ANN = "ann@example.com";
const LINK = /^(http:\/\/127\.0\.0\.1:\d+)\/ui\/link#(\w{32})\n$/;

/** Runs a command in this process, and returns its exit code and output. */
async function runInProcess(
  work: (io: Io) => Promise<void>,
  stateDir: string,
  env: Record<string, string> = {},
  errTerminal = false,
) {
  let [out, err, code] = ["", "", 0];
  const io: Io = {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    terminal: false,
    errTerminal,
    env: { MILLRACE_STATE_DIR: stateDir, ...env },
    onExit: () => {},
  };
  await work(io).catch((error: unknown) => {
    const described = describeError(error);
    err += `${described.message}\n`;
    code = described.exitCode;
  });
  return { code, out, err };
}

/** The commands on the state directory of a running server. */
async function setUp() {
  const instance = await testInstance();
  const { url } = await instance.rest();
  const { stateDir } = instance;
  return {
    instance,
    url,
    list: async () =>
      JSON.parse((await runInProcess((io) => users.listAllUsers(io, { json: true }), stateDir)).out),
    invite: (email: string, role: string, env = {}) =>
      runInProcess((io) => users.inviteUserByEmail(io, email, { role }), stateDir, env),
    reset: (email: string, env = {}) => runInProcess((io) => users.resetPassword(io, email), stateDir, env),
    role: (email: string, role: string) => runInProcess((io) => users.setRole(io, email, role), stateDir),
    set: (email: string, status: "active" | "deactivated") =>
      runInProcess((io) => users.setStatus(io, email, status), stateDir),
  };
}

const tokenIn = ({ out }: { out: string }): string => LINK.exec(out)![2]!;

const baseWithNotice = (base: string) => [base, expect.stringContaining(`The link begins with ${base}.`)];

const audited = async ({ read }: TestInstance) =>
  (await read.audit.page({ filter: {}, before: null, limit: 100 }))
    .toReversed()
    .map(({ operation, target, owner, keyName, surface }) => [operation, target, owner, keyName, surface]);

describe("millrace users", () => {
  it("creates the first admin without a browser, and resets the password of an admin who is locked out", async () => {
    const { instance, url, invite, reset } = await setUp();
    const invited = await invite(" Ann@Example.com", "admin");
    expect(invited).toEqual({ code: 0, out: expect.stringMatching(LINK), err: "" });
    const browser = browserApi(url);
    const password = "a quiet river at night";
    const begun = await browser.request("POST", "/session/password", { token: tokenIn(invited), password });
    expect(begun.body.user).toMatchObject({ email: ANN, role: "admin" });
    expect((await browser.request("GET", "/session/options")).body.setup).toBe(false);

    const guess = (secret: string) =>
      browserApi(url).request("POST", "/session", { email: ANN, password: secret });
    for (let count = 0; count < 6; count += 1) await guess("forgotten");
    expectProblem(await guess(password), "too_many_attempts");
    const link = await reset(ANN.toUpperCase());
    const next = "the mill is not moving";
    const chosen = await browserApi(url).request("POST", "/session/password", {
      token: tokenIn(link),
      password: next,
    });
    expect(chosen.body.user).toMatchObject({ email: ANN });
    expectProblem(await browser.request("GET", "/session"), "unauthorized");
    expect((await guess(next)).status).toBe(200);
    expect((await audited(instance)).filter(([, , , , surface]) => surface === "cli")).toEqual([
      ["invite_user.role_admin", ANN, "operator", "command line", "cli"],
      ["reset_user_password", ANN, "operator", "command line", "cli"],
    ]);
  });

  it("creates a new link for an invited user, and disables the previous link", async () => {
    const { instance, url, invite, reset, list } = await setUp();
    await addUser(instance, { role: "admin" });
    const old = tokenIn(await invite("bea@example.com", "viewer"));
    const renewed = tokenIn(await reset("bea@example.com"));
    const choose = (token: string) =>
      browserApi(url).request("POST", "/session/password", { token, password: "reading is enough for me" });
    expectProblem(await choose(old), "link_expired");
    expect((await choose(renewed)).status).toBe(200);
    expect(await list()).toMatchObject([
      { email: ANN, role: "admin" },
      { email: "bea@example.com", role: "viewer", status: "active", created_by: "operator" },
    ]);
    const stored = JSON.stringify(await instance.store.read.selectFrom("audit_log").selectAll().execute());
    expect(stored).not.toContain(renewed);
  });

  it("prints the link even if mail is configured, and sends no mail", async () => {
    const { instance, reset } = await setUp();
    await addUser(instance, { role: "admin" });
    const peer = await smtpPeer();
    const basic = `{ smtp_user: mill@example.com, smtp_password_var: MAIL, smtp_server: 127.0.0.1, smtp_port: ${peer.port} }`;
    writeFileSync(join(instance.stateDir, "config.yaml"), `authentication:\n  basic: ${basic}\n`);
    const { out } = await reset(ANN, { MAIL: "secret", MILLRACE_BASE_URL: "https://mill.example.com/" });
    expect(out).toMatch(/^https:\/\/mill\.example\.com\/ui\/link#\w{32}\n$/);
    expect(peer.received).toEqual([]);
  });

  it("begins links with the address that the server last listened on, and prints that address", async () => {
    const instance = await testInstance();
    await addUser(instance, { role: "admin" });
    const linkBase = async (env: Record<string, string> = {}) => {
      const { out, err } = await runInProcess(
        (io) => users.resetPassword(io, ANN),
        instance.stateDir,
        env,
        true,
      );
      return [out.split("/ui/")[0], err];
    };
    expect(await linkBase()).toEqual(baseWithNotice("http://127.0.0.1:3000"));
    for (const _ of ["first", "second"]) {
      const { url, stop } = await instance.rest();
      expect(await linkBase()).toEqual(baseWithNotice(url));
      await stop(0);
      expect(await linkBase()).toEqual(baseWithNotice(url));
    }
    const named = "https://mill.example.com/millrace";
    expect(await linkBase({ MILLRACE_BASE_URL: named })).toEqual([named, ""]);
    await instance.rest({ env: { MILLRACE_BASE_URL: named } });
    expect(await linkBase()).toEqual(baseWithNotice(named));
  });

  it("warns that links do not work if users sign in through a provider", async () => {
    const { instance, invite, reset } = await setUp();
    const ann = await addUser(instance, { email: ANN, role: "admin" });
    expect((await invite("bea@example.com", "viewer")).err).toBe("");
    await instance.write({ operation: "test", actor: OPERATOR_ACTOR, requestId: newRequestId() }, (tx) =>
      tx.identities.insert({
        issuer: "https://id.example.com",
        subject: "1",
        userId: ann.id,
        createdAt: iso(0),
      }),
    );
    const warned = { code: 0, err: expect.stringMatching(/works only with --auth-mode built-in/) };
    expect(await invite("cem@example.com", "viewer")).toMatchObject(warned);
    expect(await reset(ANN)).toMatchObject(warned);
  });

  it("deactivates and activates users, changes roles, and says if nothing changed", async () => {
    const { instance, url, set, role, list, reset } = await setUp();
    await addUser(instance, { email: "root@example.com", role: "admin" });
    await addUser(instance);
    const { value } = await instance.key({ owner: ANN });
    const status = async () => (await fetch(`${url}/workflows`, { headers: { "X-API-Key": value } })).status;
    expect(await status()).toBe(200);
    expect(await set(ANN, "deactivated")).toMatchObject({
      code: 0,
      out: expect.stringContaining("can no longer sign in"),
    });
    expect(await status()).toBe(401);
    expect((await set(ANN, "deactivated")).out).toBe(`${ANN} is already deactivated.\n`);
    expect(await reset(ANN)).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining(`activate ${ANN}`),
    });
    expect((await set(ANN, "active")).out).toBe(`${ANN} can sign in again.\n`);
    expect(await status()).toBe(200);
    expect((await role(ANN, "viewer")).out).toBe(`${ANN} now has the role viewer.\n`);
    expect((await role(ANN, "viewer")).out).toBe(`${ANN} already has the role viewer.\n`);
    expect(await list()).toMatchObject([{ email: ANN, role: "viewer" }, {}]);
    expect((await audited(instance)).map(([operation]) => operation)).toEqual([
      "create_api_key",
      "update_user.status_deactivated",
      "update_user.status_active",
      "update_user.role_viewer",
    ]);
  });

  it("sets and ends the absence of a user, audited", async () => {
    const { instance } = await setUp();
    await addUser(instance, { role: "editor" });
    await addUser(instance, { email: "bea@example.com", role: "editor" });
    const until = iso(Date.now() + 30 * DAY);
    const input = { until, substitute: "bea@example.com" };
    const absent = (person: string, more = {}) =>
      runInProcess((io) => setUserAbsence(io, person, { ...input, ...more }), instance.stateDir);
    const { code, out } = await absent(ANN);
    expect(code).toBe(0);
    expect(out).toContain(`until ${until}. bea@example.com can decide approvals in their place.\n`);
    expect(await absent("no@example.com")).toMatchObject({
      code: 1,
      err: expect.stringContaining("no@example.com"),
    });
    const back = await runInProcess((io) => endUserAbsence(io, ANN), instance.stateDir);
    expect(back.out).toBe("ann@example.com is not away. Nobody decides approvals in their place.\n");
    expect((await audited(instance)).slice(-2)).toEqual([
      ["set_absence", ANN, "operator", "command line", "cli"],
      ["end_absence", ANN, "operator", "command line", "cli"],
    ]);
  });

  it("never deactivates the last active admin", async () => {
    const { instance, set, role } = await setUp();
    await addUser(instance, { role: "admin" });
    await addUser(instance, { email: "bea@example.com", role: "admin", status: "invited" });
    for (const refused of [await set(ANN, "deactivated"), await role(ANN, "editor")])
      expect(refused).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringContaining("the last active admin"),
      });
    expect((await set("bea@example.com", "deactivated")).code).toBe(0);
    // A user who never chose a password is invited again.
    expect((await set("bea@example.com", "active")).out).toContain("millrace users reset bea@example.com");
    expect(await set("bea@example.com", "active")).toMatchObject({
      code: 1,
      err: expect.stringContaining("by accepting the invitation"),
    });
  });

  it("explains a wrong address or role, and suggests a similar one", async () => {
    const { instance, invite, reset, role, set } = await setUp();
    expect(await invite(ANN, "editor")).toMatchObject({
      code: 1,
      err: expect.stringContaining("--role admin"),
    });
    expect((await reset(ANN)).err).toContain("There are no users yet.");
    await addUser(instance, { role: "admin" });
    await addUser(instance, { email: "zoe@example.com" });
    await addUser(instance, { email: "ann@another.example" });
    await addUser(instance, { email: "gone@example.com", status: "deactivated" });
    const suggestionFor = async (address: string) =>
      /Did you mean (\S+)\?/.exec((await reset(address)).err)?.[1];
    expect(await suggestionFor("anm@example.com")).toBe(ANN);
    expect(await suggestionFor("zeo@exmaple.org")).toBe("zoe@example.com");
    expect(await suggestionFor("zo")).toBe("zoe@example.com");
    // The same mail server alone does not make two addresses similar.
    expect(await suggestionFor("kim@example.com")).toBeUndefined();
    expect(await set("nobody@example.com", "deactivated")).toMatchObject({ code: 1, out: "" });
    expect(await invite("nobody", "admin")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Expected an e-mail address"),
    });
    expect(await role(ANN, "edtor")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Did you mean editor?"),
    });
    for (const [email, advice] of [
      [ANN, `users role ${ANN}`],
      ["gone@example.com", "users activate gone@example.com"],
    ] as const)
      expect(await invite(email, "viewer")).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringContaining(advice),
      });
    expect(await audited(instance)).toEqual([]);
  });

  it("prints help for each command, a readable list, and nothing but the link on standard output", async () => {
    const instance = await testInstance();
    await addUser(instance, { role: "admin" });
    const env = { MILLRACE_STATE_DIR: instance.stateDir };
    const [help, list, reset, unknown, missing] = await Promise.all(
      [["--help"], ["list"], ["reset", ANN], ["resett", ANN], ["invite", "bea@example.com"]].map((args) =>
        runCommand(["users", ...args], env),
      ),
    );
    for (const word of ["list", "invite", "reset", "role", "deactivate", "activate", "MILLRACE_BASE_URL"])
      expect(help!.out).toContain(word);
    expect(list).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^E-MAIL +ROLE .*\nann@example\.com +admin +active/),
    });
    expect(reset).toEqual({ code: 0, out: expect.stringMatching(LINK), err: "" });
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("Did you mean reset?") });
    expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("--role <role>") });
  });
});

describe("the operator at the command line", () => {
  it("can do what only users can do, unlike any API key, even with every scope", async () => {
    const { services } = await testInstance();
    const persons = catalogue.filter(({ requiresUser }) => requiresUser);
    expect(persons.length).toBeGreaterThan(5);
    for (const tool of persons) {
      const ask = (principal: typeof OPERATOR_ACTOR.principal) =>
        invoke(
          services,
          tool,
          { nothing: "like it" },
          {
            actor: { principal, client: OPERATOR_ACTOR.client },
            requestId: newRequestId(),
            signal: new AbortController().signal,
          },
        );
      await expect(ask(OPERATOR_ACTOR.principal)).rejects.toMatchObject({ code: "invalid_input" });
      await expect(ask(keyPrincipal())).rejects.toMatchObject({ code: "person_needed" });
    }
  });
});
