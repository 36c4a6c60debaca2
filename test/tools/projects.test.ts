import { describe, expect, it } from "vitest";
import { createProject } from "../../tools/projects/create-project.ts";
import { deleteProject } from "../../tools/projects/delete-project.ts";
import { listProjects } from "../../tools/projects/list-projects.ts";
import { removeProjectMember } from "../../tools/projects/remove-project-member.ts";
import { setProjectMember } from "../../tools/projects/set-project-member.ts";
import { updateProject } from "../../tools/projects/update-project.ts";
import { inviteUser } from "../../tools/users/invite-user.ts";
import { updateUser } from "../../tools/users/update-user.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, testInstance, type TestInstance } from "../support/instance.ts";
import { insertWorkflow, testActor } from "../support/store.ts";
import { addUser, callAs, signedInUser, signIn } from "../support/users.ts";

async function open() {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const root = await signedInUser(instance, { email: "root@example.com", role: "admin" });
  const { url } = await instance.rest();
  /** Calls the REST API as a person who signs in. */
  const person = async (email: string, role: "viewer" | "editor" | "member" = "member") => {
    const user = await addUser(instance, { email, role });
    const { cookie } = await signIn(instance, user);
    const request = apiClient(url);
    return (method: string, path: string, body?: unknown) =>
      request(method, path, body, { Cookie: cookie, "Sec-Fetch-Site": "same-origin" });
  };
  return { instance, url, clock, call: callAs(instance, root.principal), person };
}

const audited = async ({ read }: TestInstance): Promise<string[]> =>
  (await read.audit.page({ filter: {}, before: null, limit: 100 })).map(
    ({ operation, target, project }) => `${project}: ${operation} ${target}`,
  );

describe("projects", () => {
  it("show each caller its own, with what it can do there", async () => {
    const { call, person, instance, url } = await open();
    await call(createProject, { name: "Finance" });
    await call(createProject, { name: "Sales" });
    await call(setProjectMember, { project: "finance", email: "ann@example.com", role: "editor" });
    const ann = await person("ann@example.com");
    const vic = await person("vic@example.com", "viewer");
    const shown = async (who: typeof ann) =>
      ((await who("GET", "/projects")).body as { id: string; scopes: string[] }[]).map(
        ({ id, scopes }) => `${id}: ${scopes.join(" ")}`,
      );
    expect(await shown(ann)).toEqual(["finance: read write publish run approve"]);
    expect(await shown(vic)).toEqual(["default: read"]);
    const { items } = await call(listProjects, {});
    expect(items.map(({ id, scopes, role }) => `${id}: ${scopes.length}, ${role}`)).toEqual([
      "default: 6, admin",
      "finance: 6, admin",
      "sales: 6, admin",
    ]);
    const roles = async (who: typeof ann) =>
      ((await who("GET", "/projects")).body as { id: string; role: string }[]).map(
        ({ id, role }) => `${id}: ${role}`,
      );
    expect([await roles(ann), await roles(vic)]).toEqual([["finance: editor"], ["default: viewer"]]);
    // A key has the role of its owner, with fewer scopes.
    const { value } = await instance.key({
      scopes: ["read"],
      owner: "ann@example.com",
      projects: ["finance"],
    });
    const ofKey = await apiClient(url, value)("GET", "/projects");
    expect(ofKey.body).toMatchObject([{ id: "finance", scopes: ["read"], role: "editor" }]);
    const operator = apiClient(url, (await instance.key({ scopes: ["read"], projects: ["sales"] })).value);
    expect((await operator("GET", "/projects")).body).toMatchObject([{ id: "sales", role: "admin" }]);
    // A project of others and one that does not exist look the same, but for the id.
    const [others, none] = [await vic("GET", "/projects/finance"), await vic("GET", "/projects/nothing")];
    const text = ({ body }: typeof others, id: string) =>
      JSON.stringify({ ...body, request_id: "" }).replaceAll(id, "(id)");
    expect(text(others, "finance")).toBe(text(none, "nothing"));
    expect(others.status).toBe(404);
  });

  it("give a role to an address without an account, which has it at the first sign-in, and tells nobody", async () => {
    const { call, person, instance } = await open();
    await call(createProject, { name: "Finance" });
    await addUser(instance, { email: "known@example.com", role: "viewer" });
    const before = await call(setProjectMember, {
      project: "finance",
      email: "New@Example.com",
      role: "viewer",
    });
    const known = await call(setProjectMember, {
      project: "finance",
      email: "known@example.com",
      role: "viewer",
    });
    expect({ ...before, email: "" }).toEqual({ ...known, email: "" });
    const newcomer = await person("new@example.com");
    expect((await newcomer("GET", "/projects/finance")).body).toMatchObject({ scopes: ["read"] });
    await call(setProjectMember, { project: "finance", email: "new@example.com", role: "admin" });
    // The next request has the new role, and the one after the removal none.
    expect((await newcomer("PATCH", "/projects/finance", { name: "Money" })).status).toBe(200);
    await call(removeProjectMember, { project: "finance", email: "new@example.com" });
    expect((await newcomer("GET", "/projects/finance")).body).toMatchObject({
      code: "missing_scope",
      detail: expect.stringMatching(/^new@example\.com has no role in any project, .* Ask an admin/),
    });
    expect(await audited(instance)).toEqual([
      "finance: remove_project_member new@example.com",
      "finance: update_project finance",
      "finance: set_project_member.role_admin new@example.com",
      "finance: set_project_member.role_viewer known@example.com",
      "finance: set_project_member.role_viewer new@example.com",
      "finance: create_project finance",
    ]);
  });

  it("let their admins manage members and texts, and nothing of other projects or of the instance", async () => {
    const { call, person } = await open();
    await call(createProject, { name: "Finance" });
    await call(createProject, { name: "Sales" });
    await call(setProjectMember, { project: "finance", email: "ann@example.com", role: "admin" });
    const ann = await person("ann@example.com");
    expect((await ann("PUT", "/projects/finance/members/bob@example.com", { role: "editor" })).status).toBe(
      200,
    );
    expect((await ann("PATCH", "/projects/finance", { name: "Money", review: true })).status).toBe(200);
    const codes = await Promise.all(
      (
        [
          ["PATCH", "/projects/finance", { connections: "all" }],
          ["PATCH", "/projects/finance", { http_public: "any" }],
          ["PATCH", "/projects/finance", { limits: { runs_per_hour: null } }],
          ["DELETE", "/projects/finance"],
          ["POST", "/projects", { name: "Mine" }],
          ["GET", "/users"],
          ["PATCH", "/projects/sales", { name: "Mine" }],
          ["PUT", "/projects/sales/members/ann@example.com", { role: "admin" }],
          ["GET", "/projects/sales/members"],
          ["DELETE", "/projects/sales/members/ann@example.com"],
          ["PUT", "/projects/default/members/ann@example.com", { role: "admin" }],
        ] as const
      ).map(async ([method, path, body]) => (await ann(method, path, body)).body.code as string),
    );
    expect(codes).toEqual([
      ...Array.from({ length: 6 }, () => "missing_scope"),
      ...Array.from({ length: 5 }, () => "project_not_found"),
    ]);
  });

  it("make the role member possible, which is none in the default project", async () => {
    const { call, instance, person } = await open();
    const invite = (role: string) => call(inviteUser, { email: `${role}@example.com`, role });
    const refused = {
      code: "invalid_input",
      details: { errors: [expect.objectContaining({ path: "role" })] },
    };
    await expect(invite("member")).rejects.toMatchObject(refused);
    const vic = await addUser(instance, { email: "vic@example.com", role: "viewer" });
    const update = () => call(updateUser, { user_id: vic.id, role: "member" });
    await expect(update()).rejects.toMatchObject(refused);
    await call(createProject, { name: "Finance" });
    expect((await invite("member")).user.role).toBe("member");
    expect((await update()).role).toBe("member");
    const nobody = await person("nobody@example.com");
    expect((await nobody("GET", "/workflows")).body).toMatchObject({
      code: "missing_scope",
      detail: expect.stringContaining("has no role in any project"),
    });
    // The session itself works, so that the page can say it.
    expect((await nobody("GET", "/session")).body).toMatchObject({ user: { role: "member", scopes: [] } });
  });

  it("are deleted only when empty, and keys lose them for good", async () => {
    const { call, instance, url } = await open();
    await call(createProject, { name: "Finance" });
    const { record, value } = await instance.key({ projects: ["finance"], scopes: ["read"] });
    expect((await apiClient(url, value)("GET", "/projects/finance")).status).toBe(200);
    const { id } = await instance.write({ operation: "test", actor: testActor, requestId: "r" }, (tx) =>
      insertWorkflow(tx, { name: "Weekly" }, "finance"),
    );
    expect(id).toBe("finance.weekly");
    await expect(call(deleteProject, { project: "finance" })).rejects.toMatchObject({
      code: "project_not_empty",
      message: expect.stringContaining("has 1 workflow (archived ones included) and 0 runs"),
    });
    await instance.store.transaction((trx) =>
      trx.updateTable("workflows").set({ project: "default" }).where("id", "=", id).execute(),
    );
    await call(deleteProject, { project: "finance" });
    expect((await instance.read.apiKeys.find(record.id))!.projects).toEqual([]);
    await call(createProject, { name: "Finance" });
    expect((await apiClient(url, value)("GET", "/projects/finance")).body).toMatchObject({
      code: "missing_scope",
    });
  });

  it("do not show what a deleted project with the same id did", async () => {
    const { call, clock, person } = await open();
    await call(createProject, { name: "Finance" });
    await call(setProjectMember, { project: "finance", email: "former@example.com", role: "editor" });
    await call(deleteProject, { project: "finance" });
    clock.advance(1);
    await call(createProject, { name: "Finance" });
    await call(setProjectMember, { project: "finance", email: "ann@example.com", role: "admin" });
    const ann = await person("ann@example.com");
    const entries = (await ann("GET", "/audit-log")).body as { operation: string; target: string }[];
    expect(entries.map(({ operation, target }) => `${operation} ${target}`)).toEqual([
      "set_project_member.role_admin ann@example.com",
      "create_project finance",
    ]);
    const { headers } = await ann("GET", "/audit-log?limit=1");
    expect(headers.get("x-total-count")).toBe("2");
  });

  it("keep the limits that a change leaves out", async () => {
    const { call } = await open();
    await call(createProject, { name: "Finance", limits: { runs_per_hour: 5, rows_per_day: 7 } });
    const change = (limits: object) => call(updateProject, { project: "finance", limits });
    expect((await change({ runs_per_hour: 6 })).limits).toEqual({ runs_per_hour: 6, rows_per_day: 7 });
    expect((await change({ rows_per_day: null })).limits).toEqual({ runs_per_hour: 6 });
    expect((await change({ runs_per_hour: null })).limits).toEqual({});
  });
});
