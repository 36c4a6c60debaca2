/** The projects and limits of a new key: never more than its creator has, and only what exists. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Role, UserRole } from "../../schemas/user.ts";
import { createApiKey } from "../../tools/api-keys/create-api-key.ts";
import { listApiKeys } from "../../tools/api-keys/list-api-keys.ts";
import { rotateApiKey } from "../../tools/api-keys/rotate-api-key.ts";
import { createProject } from "../../tools/projects/create-project.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser, signIn } from "../support/users.ts";

function config() {
  const dataset = join(temporaryDirectory(), "shop.db");
  new DatabaseSync(dataset).close();
  const model = { vendor: "openai", model_ref: "m", key_var: "KEY" };
  return { databases: [{ name: "shop", type: "sqlite", dataset }], models: [{ name: "writer", ...model }] };
}

async function open(role: UserRole = "editor", memberships: Readonly<Record<string, Role>> = {}) {
  const instance = await testInstance({ config: config() });
  const operator = callAs(instance, keyPrincipal());
  const { user } = await signedInUser(instance, { email: "ann@example.com", role });
  for (const [project, held] of Object.entries(memberships)) {
    await operator(createProject, { name: project, id: project });
    await instance.store.transaction((trx) =>
      trx
        .insertInto("project_members")
        .values({ project, email: user.email, role: held, added_at: "", added_by: "operator" })
        .execute(),
    );
  }
  const { principal } = await signIn(instance, user);
  const call = callAs(instance, principal);
  return { instance, operator, call };
}

const invalid = (...errors: object[]) => ({ code: "invalid_input", details: { errors } });

describe("A key with limits", () => {
  it("is created with what exists, shows it in lists, and keeps it when it is rotated", async () => {
    const { operator, call } = await open();
    await operator(createWorkflow, { name: "Weekly" });
    const limits = {
      workflows: ["weekly"],
      tools: ["run_workflow", "get_run", "run_events"],
      databases: ["shop"],
      models: ["writer"],
    };
    const made = await call(createApiKey, { name: "ci", limits });
    // The default scopes, without those that reach beyond the workflows.
    expect(made).toMatchObject({ scopes: ["read", "run"], limits });
    expect(made).not.toHaveProperty("projects");
    const next = await call(rotateApiKey, { key_id: made.id });
    expect(next.limits).toEqual(limits);
    expect((await call(listApiKeys)).items.map((key) => key.limits)).toEqual([limits, limits]);
  });

  it("names each thing that does not exist, with the nearest one", async () => {
    const { operator, call } = await open();
    await operator(createWorkflow, { name: "Weekly revenue" });
    const limits = {
      workflows: ["weekly-revenu", "zzz"],
      tools: ["run_workflw", "create_api_key"],
      databases: ["shopp"],
      models: ["writr"],
    };
    await expect(call(createApiKey, { name: "ci", limits })).rejects.toMatchObject(
      invalid(
        { path: "limits.workflows[0]", code: "not_found", did_you_mean: "weekly-revenue" },
        { path: "limits.workflows[1]", code: "not_found" },
        { path: "limits.tools[0]", code: "not_found", did_you_mean: "run_workflow" },
        // Only for people, so no key can use it.
        { path: "limits.tools[1]", code: "not_found" },
        { path: "limits.databases[0]", code: "not_found", did_you_mean: "shop" },
        { path: "limits.models[0]", code: "not_found", did_you_mean: "writer" },
      ),
    );
    await expect(call(createApiKey, { name: "ci", limits: { tools: [] } })).rejects.toMatchObject(
      invalid({ path: "limits.tools" }),
    );
  });

  it.each(["write", "publish", "admin"] as const)(
    "to workflows has no scope %s, with which it could run or see others",
    async (scope) => {
      const { operator, call } = await open("admin");
      await operator(createWorkflow, { name: "Weekly" });
      const limits = { workflows: ["weekly"] };
      await expect(call(createApiKey, { name: "ci", scopes: ["run", scope], limits })).rejects.toMatchObject(
        invalid({ path: "scopes", code: "not_allowed", allowed: ["read", "run", "approve"] }),
      );
    },
  );

  it("names no tool whose scope the key lacks", async () => {
    const { call } = await open();
    const limits = { tools: ["publish_workflow", "get_run"] };
    await expect(call(createApiKey, { name: "ci", scopes: ["run"], limits })).rejects.toMatchObject(
      invalid({ path: "limits.tools[0]", code: "not_allowed", fix: expect.stringContaining("publish") }),
    );
  });
});

const textOf = (error: unknown, name: string): string => JSON.stringify(error).replaceAll(name, "(name)");

describe("The projects of a new key", () => {
  it("are the default one, which is not shown", async () => {
    const { instance, call } = await open("editor", { finance: "viewer" });
    const made = await call(createApiKey, { name: "ci" });
    expect(made).not.toHaveProperty("projects");
    expect((await instance.read.apiKeys.find(made.id))!.projects).toEqual(["default"]);
  });

  it("are the only one of a person who has no other", async () => {
    const { call } = await open("member", { finance: "editor" });
    const made = await call(createApiKey, { name: "ci" });
    expect(made.projects).toEqual(["finance"]);
    expect((await call(rotateApiKey, { key_id: made.id })).projects).toEqual(["finance"]);
  });

  it("must be chosen by a person who has several, and not the default one", async () => {
    const { call } = await open("member", { finance: "editor", sales: "viewer" });
    await expect(call(createApiKey, { name: "ci" })).rejects.toMatchObject(
      invalid({ path: "projects", code: "required", allowed: ["finance", "sales"] }),
    );
    expect((await call(createApiKey, { name: "ci", projects: ["sales"] })).scopes).toEqual(["read"]);
  });

  it("are those of their creator only: others are reported like missing ones", async () => {
    const { instance, operator, call } = await open("viewer", { finance: "editor" });
    await operator(createProject, { name: "secrets", id: "secrets" });
    await instance.store.transaction((trx) =>
      trx.updateTable("projects").set({ connections: "all" }).where("id", "=", "secrets").execute(),
    );
    for (const more of [{}, { limits: { databases: ["none"], models: ["none"] } }]) {
      const refused = async (project: string): Promise<unknown> =>
        call(createApiKey, { name: "ci", projects: [project], ...more }).catch((error: unknown) => error);
      const [hidden, missing] = [await refused("secrets"), await refused("secretz")];
      expect(hidden).toMatchObject({ code: "invalid_input" });
      expect((hidden as { details: { errors: object[] } }).details.errors[0]).toMatchObject({
        path: "projects[0]",
        code: "not_found",
      });
      expect(textOf(hidden, "secrets")).toBe(textOf(missing, "secretz"));
      expect(textOf(hidden, "got secrets")).not.toMatch(/secrets|shop|writer/);
    }
  });

  it("give no scope that the creator's role does not grant in any of them", async () => {
    const { call } = await open("viewer", { finance: "editor" });
    await expect(
      call(createApiKey, { name: "ci", projects: ["default"], scopes: ["run"] }),
    ).rejects.toMatchObject(invalid({ path: "scopes", code: "not_allowed", allowed: ["read"] }));
    expect(
      (await call(createApiKey, { name: "ci", projects: ["default", "finance"], scopes: ["run"] })).scopes,
    ).toEqual(["read", "run"]);
  });

  it("contain the workflows that the key is limited to", async () => {
    const { instance, operator, call } = await open("editor", { finance: "editor" });
    await operator(createWorkflow, { name: "Weekly" });
    await instance.store.transaction((trx) =>
      trx.updateTable("workflows").set({ project: "finance" }).execute(),
    );
    const key = { name: "ci", limits: { workflows: ["weekly"] } };
    await expect(call(createApiKey, key)).rejects.toMatchObject(
      invalid({ path: "limits.workflows[0]", code: "not_allowed" }),
    );
    expect((await call(createApiKey, { ...key, projects: ["finance"] })).limits).toEqual(key.limits);
  });
});
