import { describe, expect, it } from "vitest";
import { digestOf } from "../../src/auth/key-format.ts";
import { MINUTE } from "../../src/core/clock.ts";
import type { AccountsApi } from "../../src/core/account-ports.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { createApiKey } from "../../tools/api-keys/create-api-key.ts";
import { listAuditLog } from "../../tools/audit/list-audit-log.ts";
import { inviteUser } from "../../tools/users/invite-user.ts";
import { listUsers } from "../../tools/users/list-users.ts";
import { renewInvitation } from "../../tools/users/renew-invitation.ts";
import { resetUserPassword } from "../../tools/users/reset-user-password.ts";
import { updateUser } from "../../tools/users/update-user.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, testInstance, type TestInstance } from "../support/instance.ts";
import { callAs, addUser, signedInUser, signIn, keyPrincipal } from "../support/users.ts";

async function asAdmin() {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const root = await signedInUser(instance, { email: "root@example.com", role: "admin" });
  return { instance, clock, root, call: callAs(instance, root.principal) };
}

/** The link of a token in a URL, if it still works. */
const linkOf = ({ read }: TestInstance, link: string | null) =>
  read.links.find(digestOf(new URL(link!).hash.slice(1)));

/** An instance with a mailer that accepts and records every mail. */
function withMail(instance: TestInstance) {
  const posted: Parameters<AccountsApi["sendLink"]>[] = [];
  const accounts: AccountsApi = {
    ...instance.services.accounts,
    mailEnabled: true,
    sendLink: async (...mail) => {
      posted.push(mail);
      return { sent: true, link: "https://mill.example.com/ui/link#secret" };
    },
  };
  return { posted, instance: { services: { ...instance.services, accounts } } };
}

async function writtenDown({ store: { read } }: TestInstance): Promise<string> {
  const tables = await Promise.all([
    read.selectFrom("users").selectAll().execute(),
    read.selectFrom("account_links").selectAll().execute(),
    read.selectFrom("idempotency_keys").selectAll().execute(),
    read.selectFrom("audit_log").selectAll().execute(),
  ]);
  return JSON.stringify(tables);
}

const audited = async ({ read }: TestInstance): Promise<string[]> =>
  (await read.audit.page({ filter: {}, before: null, limit: 100 })).map(
    ({ operation, target, owner }) => `${owner} ${operation} ${target}`,
  );

describe("invite_user", () => {
  it("creates a user and returns the link once if no mail can be sent", async () => {
    const { instance, call } = await asAdmin();
    const input = { email: " Ann@Example.com", role: "editor", idempotency_key: "once" };
    const { user, sent, link } = await call(inviteUser, input);
    expect(user).toEqual({
      id: expect.stringMatching(/^usr_/),
      email: "ann@example.com",
      role: "editor",
      role_by: null,
      verified: false,
      status: "invited",
      created_at: "2026-11-21T08:00:00.000Z",
      created_by: "root@example.com",
      last_login_at: null,
    });
    expect(sent).toBe(false);
    expect(await linkOf(instance, link)).toMatchObject({ kind: "invitation", userId: user.id });
    expect(await call(inviteUser, input)).toEqual({ user, sent: false, link: null });
    expect(await writtenDown(instance)).not.toContain(new URL(link!).hash.slice(1));
    expect(await audited(instance)).toEqual(["root@example.com invite_user.role_editor ann@example.com"]);
  });

  it("sends the link by mail if possible, once, and does not return it", async () => {
    const { instance, root } = await asAdmin();
    const mail = withMail(instance);
    const call = callAs(mail.instance, root.principal);
    const input = { email: "ann@example.com", role: "viewer", idempotency_key: "once" };
    expect(await call(inviteUser, input)).toMatchObject({ sent: true, link: null });
    expect(await call(inviteUser, input)).toMatchObject({ sent: false, link: null });
    const sender = { caller: root.principal, project: "default" };
    expect(mail.posted).toEqual([
      ["invitation", "ann@example.com", expect.any(String), "root@example.com", sender],
    ]);
    expect(await instance.read.links.find(digestOf(mail.posted[0]![2]))).toMatchObject({
      kind: "invitation",
    });
  });

  it.each([
    ["invited", "renew_invitation"],
    ["active", "update_user"],
    ["deactivated", "update_user"],
  ] as const)("refuses an address that somebody %s has, in any case", async (status, next) => {
    const { instance, call } = await asAdmin();
    await addUser(instance, { status });
    await expect(call(inviteUser, { email: "ANN@example.com", role: "admin" })).rejects.toMatchObject({
      code: "email_taken",
      message: expect.stringContaining(next),
    });
    expect(await audited(instance)).toEqual([]);
  });

  it("takes the two forms of a domain for one, and stores the form in ASCII", async () => {
    const { call } = await asAdmin();
    const { user } = await call(inviteUser, { email: "Ann@Bücher.example", role: "viewer" });
    expect(user.email).toBe("ann@xn--bcher-kva.example");
    await expect(
      call(inviteUser, { email: "ann@XN--bcher-kva.example", role: "viewer" }),
    ).rejects.toMatchObject({ code: "email_taken" });
    expect(await call(listUsers, { search: "Ann@bücher.example" })).toMatchObject({ items: [user] });
  });

  it("says which part of an address is wrong", async () => {
    const { call } = await asAdmin();
    const refused = call(inviteUser, { email: "Ann <ann@example.com>", role: "viewer" });
    await expect(refused).rejects.toMatchObject({
      code: "invalid_input",
      details: {
        errors: [
          {
            path: "email",
            code: "wrong_format",
            did_you_mean: "ann@example.com",
            fix: "Write ann@example.com.",
          },
        ],
      },
    });
  });
});

describe("renew_invitation", () => {
  it("creates a new link, and the old one expires", async () => {
    const { instance, call } = await asAdmin();
    const { user, link: old } = await call(inviteUser, { email: "ann@example.com", role: "editor" });
    const input = { user_id: user.id, idempotency_key: "once" };
    const { link, ...answer } = await call(renewInvitation, input);
    expect(answer).toEqual({ user, sent: false });
    expect(await linkOf(instance, old)).toBeUndefined();
    expect(await linkOf(instance, link)).toMatchObject({ kind: "invitation", userId: user.id });
    expect(await call(renewInvitation, input)).toEqual({ user, sent: false, link: null });
    expect(await linkOf(instance, link)).toBeDefined();
  });

  it.each(["active", "deactivated"] as const)("is refused for a user who is %s", async (status) => {
    const { instance, call } = await asAdmin();
    const { id } = await addUser(instance, { status });
    await expect(call(renewInvitation, { user_id: id })).rejects.toMatchObject({ code: "user_not_invited" });
  });
});

describe("reset_user_password", () => {
  it("creates a link to choose a new password, and the previous one expires", async () => {
    const { instance, call } = await asAdmin();
    const ann = await addUser(instance);
    const first = await call(resetUserPassword, { user_id: ann.id });
    const second = await call(resetUserPassword, { user_id: ann.id });
    expect(await linkOf(instance, first.link)).toBeUndefined();
    expect(await linkOf(instance, second.link)).toMatchObject({
      kind: "reset",
      userId: ann.id,
      expiresAt: "2026-11-21T08:30:00.000Z",
    });
    expect(await instance.read.users.find(ann.id)).toEqual(ann);
    expect(await audited(instance)).toContain("root@example.com reset_user_password ann@example.com");
  });

  it.each([
    ["invited", "renew_invitation"],
    ["deactivated", "update_user"],
  ] as const)("has none for somebody %s, and says what to do", async (status, next) => {
    const { instance, call } = await asAdmin();
    const { id } = await addUser(instance, { status });
    await expect(call(resetUserPassword, { user_id: id })).rejects.toMatchObject({
      code: "user_not_active",
      message: expect.stringContaining(next),
    });
  });
});

describe("update_user", () => {
  it("changes a role from the next request, for open sessions and for keys", async () => {
    const { instance, call } = await asAdmin();
    const { url } = await instance.rest();
    const ann = await signedInUser(instance);
    const made = await callAs(instance, ann.principal)(createApiKey, { name: "ci" });
    const bySession = apiClient(url);
    const byKey = apiClient(url, made.value!);
    const create = async (name: string) => [
      (await bySession("POST", "/workflows", { name }, { Cookie: ann.cookie })).status,
      (await byKey("POST", "/workflows", { name })).status,
    ];
    expect(await create("One")).toEqual([201, 201]);
    expect(await call(updateUser, { user_id: ann.user.id, role: "viewer" })).toMatchObject({
      role: "viewer",
    });
    expect(await create("Two")).toEqual([403, 403]);
    await call(updateUser, { user_id: ann.user.id, role: "editor" });
    expect(await create("Three")).toEqual([201, 201]);
  });

  it("blocks sessions, links and keys immediately, and restores access", async () => {
    const { instance, call } = await asAdmin();
    const { url } = await instance.rest();
    const ann = await signedInUser(instance);
    const bob = await signedInUser(instance, { email: "bob@example.com" });
    const { value } = await callAs(instance, ann.principal)(createApiKey, { name: "ci" });
    const { link } = await call(resetUserPassword, { user_id: ann.user.id });
    const ask = async (cookie: string) => [
      (await apiClient(url)("GET", "/workflows", undefined, { Cookie: cookie })).status,
      (await apiClient(url, value!)("GET", "/workflows")).status,
    ];
    expect(await ask(ann.cookie)).toEqual([200, 200]);
    const out = await call(updateUser, { user_id: ann.user.id, status: "deactivated" });
    expect(out).toMatchObject({ email: "ann@example.com", status: "deactivated" });
    expect(await ask(ann.cookie)).toEqual([401, 401]);
    expect(await linkOf(instance, link)).toBeUndefined();
    expect((await ask(bob.cookie))[0]).toBe(200);
    expect(await call(updateUser, { user_id: ann.user.id, status: "active" })).toMatchObject({
      status: "active",
    });
    // The sessions have ended permanently; the keys were only suspended.
    expect(await ask(ann.cookie)).toEqual([401, 200]);
  });

  it("does not activate a user who never chose a password", async () => {
    const { instance, call } = await asAdmin();
    const { user, link } = await call(inviteUser, { email: "ann@example.com", role: "editor" });
    await expect(call(updateUser, { user_id: user.id, status: "active" })).rejects.toMatchObject({
      code: "user_not_active",
    });
    expect(await call(updateUser, { user_id: user.id, status: "deactivated" })).toMatchObject({
      status: "deactivated",
    });
    expect(await linkOf(instance, link)).toBeUndefined();
    expect(await call(updateUser, { user_id: user.id, status: "active" })).toMatchObject({
      status: "invited",
    });
    expect((await call(renewInvitation, { user_id: user.id })).link).not.toBeNull();
  });

  it("audits the new role or status of a user", async () => {
    const { instance, call } = await asAdmin();
    const { id } = await addUser(instance, { email: "ann@example.com" });
    await call(updateUser, { user_id: id, role: "admin" });
    await call(updateUser, { user_id: id, role: "viewer", status: "deactivated" });
    await call(updateUser, { user_id: id, role: "viewer", status: "active" });
    expect(await audited(instance)).toEqual(
      ["status_active", "status_deactivated", "role_viewer", "role_admin"].map(
        (outcome) => `root@example.com update_user.${outcome} ann@example.com`,
      ),
    );
    const found = async (operation: string) => (await call(listAuditLog, { operation })).total;
    expect(await found("update_user")).toBe(4);
    expect(await found("update_user.role_admin")).toBe(1);
    expect(await found("update")).toBe(0);
    expect(await found("update_user.role")).toBe(0);
  });

  it("audits nothing if nothing changes", async () => {
    const { instance, call } = await asAdmin();
    const ann = await addUser(instance);
    const same = await call(updateUser, { user_id: ann.id, role: "editor", status: "active" });
    expect(await call(updateUser, { user_id: ann.id })).toEqual(same);
    expect(await audited(instance)).toEqual([]);
  });

  it("never removes the last active admin", async () => {
    const { instance, root, call } = await asAdmin();
    await addUser(instance, { email: "gone@example.com", role: "admin", status: "deactivated" });
    await addUser(instance, { email: "new@example.com", role: "admin", status: "invited" });
    for (const change of [{ role: "editor" }, { status: "deactivated" }])
      await expect(call(updateUser, { user_id: root.user.id, ...change })).rejects.toMatchObject({
        code: "last_admin",
      });
    expect(await instance.read.users.find(root.user.id)).toEqual(root.user);
    await addUser(instance, { role: "admin" });
    expect(await call(updateUser, { user_id: root.user.id, role: "editor" })).toMatchObject({
      role: "editor",
    });
  });

  it("keeps one admin when two demote each other concurrently in two processes", async () => {
    const { instance, root, call } = await asAdmin();
    const copy = await testInstance({ stateDir: instance.stateDir, clock: instance.clock });
    const ann = await signedInUser(instance, { role: "admin" });
    const results = await Promise.allSettled([
      call(updateUser, { user_id: ann.user.id, role: "viewer" }),
      callAs(copy, ann.principal)(updateUser, { user_id: root.user.id, status: "deactivated" }),
    ]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "last_admin" },
    });
    expect(await instance.read.users.count({ role: "admin", status: "active" })).toBe(1);
  });
});

describe("list_users", () => {
  it("lists users by address, and filters by a part of it, by role and by status", async () => {
    const { instance, clock, call } = await asAdmin();
    for (const [email, role] of [
      ["bob@example.com", "viewer"],
      ["ann@example.com", "editor"],
    ] as const) {
      await addUser(instance, { email, role });
      clock.advance(MINUTE);
    }
    await addUser(instance, { email: "cy@example.org", status: "deactivated" });
    const emails = async (input: Record<string, unknown>) =>
      (await call(listUsers, input)).items.map(({ email }) => email);
    const all = ["ann@example.com", "bob@example.com", "cy@example.org", "root@example.com"];
    expect(await emails({})).toEqual(all);
    expect(await emails({ search: " EXAMPLE.com" })).toEqual(all.filter((email) => email.endsWith(".com")));
    expect(await emails({ search: "%" })).toEqual([]);
    expect(await emails({ role: "viewer" })).toEqual(["bob@example.com"]);
    expect(await emails({ status: "deactivated", role: "editor" })).toEqual(["cy@example.org"]);
    const first = await call(listUsers, { limit: 3 });
    expect(first.total).toBe(4);
    expect(await emails({ limit: 3, cursor: first.next_cursor })).toEqual(["root@example.com"]);
    await expect(call(listUsers, { role: "admin", cursor: first.next_cursor })).rejects.toMatchObject({
      code: "invalid_cursor",
    });
  });

  it("finds parts of addresses in any case and form, also of domains in ASCII", async () => {
    const { instance, call } = await asAdmin();
    const written = ["ann@xn--bcher-kva.example", "коля@xn--e1afmkfd.xn--p1ai", "dörte.strauß@example.com"];
    for (const email of written) await addUser(instance, { email });
    const found = async (search: string, more = {}) => {
      const { items, total } = await call(listUsers, { search, ...more });
      expect(total).toBe(items.length);
      return items.map(({ email }) => email);
    };
    for (const search of [
      "bücher",
      "BÜCHER.Example",
      "@bu\u0308cher.example",
      "ann@büc",
      "xn--BCHER",
      "Ann@Bücher.example",
    ])
      expect(await found(search)).toEqual([written[0]]);
    for (const search of ["пример", "КОЛЯ@", "РФ"]) expect(await found(search)).toEqual([written[1]]);
    for (const search of ["STRAUSS", "do\u0308rte", "DÖR"]) expect(await found(search)).toEqual([written[2]]);
    expect(await found("ü", { role: "viewer" })).toEqual([]);
    const first = await call(listUsers, { search: "e", limit: 2 });
    expect([first.items.length, first.total]).toEqual([2, 4]);
    const next = await call(listUsers, { search: "e", limit: 2, cursor: first.next_cursor });
    expect([next.items.length, next.next_cursor]).toEqual([2, null]);
  });
});

const OPERATIONS: [AnyTool, Record<string, unknown>][] = [
  [inviteUser, { email: "new@example.com", role: "admin" }],
  [listUsers, {}],
  [renewInvitation, { user_id: "usr_none" }],
  [resetUserPassword, { user_id: "usr_none" }],
  [updateUser, { user_id: "usr_none" }],
];

describe("users are for signed-in admins", () => {
  it.each(OPERATIONS)("%#: refuses keys and editors", async (tool, input) => {
    const { instance } = await asAdmin();
    await expect(callAs(instance, keyPrincipal())(tool, input)).rejects.toMatchObject({
      code: "person_needed",
    });
    const ann = await signIn(instance, await addUser(instance));
    await expect(callAs(instance, ann.principal)(tool, input)).rejects.toMatchObject({
      code: "missing_scope",
    });
    expect(await instance.read.users.count({})).toBe(2);
  });

  it.each(OPERATIONS.slice(2))("%#: refuses an unknown user", async (tool, input) => {
    const { call } = await asAdmin();
    await expect(call(tool, input)).rejects.toMatchObject({ code: "user_not_found" });
  });
});
