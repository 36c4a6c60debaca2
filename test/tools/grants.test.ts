import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Config } from "../../schemas/config.ts";
import { addGrant } from "../../tools/projects/add-grant.ts";
import { createProject } from "../../tools/projects/create-project.ts";
import { listGrants } from "../../tools/projects/list-grants.ts";
import { removeGrant } from "../../tools/projects/remove-grant.ts";
import { setProjectMember } from "../../tools/projects/set-project-member.ts";
import { updateProject } from "../../tools/projects/update-project.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { addUser, callAs, signedInUser, signIn } from "../support/users.ts";

/** An instance with two databases, the project finance, and Ann, its editor. */
async function open(http: object = {}) {
  const dataset = join(temporaryDirectory(), "shop.db");
  const db = new DatabaseSync(dataset);
  db.exec("create table orders (region text not null); insert into orders values ('north')");
  db.close();
  const config = Config.parse({
    databases: [
      { name: "shop", type: "sqlite", dataset, access: "read-write" },
      { name: "ledger", type: "sqlite", dataset },
      {
        name: "warehouse",
        type: "postgresql",
        dataset: "postgresql://reports@127.0.0.1:9/none",
        roles: [{ name: "finance", user: "finance" }],
      },
    ],
    models: [{ name: "writer", vendor: "openai", model_ref: "m", key_var: "MISSING" }],
    mcp_servers: [{ name: "crm", url: "http://127.0.0.1:9/mcp" }],
    secrets: [{ name: "hook", key_var: "MISSING", hosts: ["hooks.example.com"] }],
    http: { allowed_hosts: ["10.0.0.5:8080", "*.internal.test"], ...http },
    mail: { allowed_domains: ["example.com", "bücher.example"] },
    chats: [
      { name: "finance", type: "teams", webhook_url_var: "MISSING" },
      { name: "board", type: "teams", webhook_url_var: "MISSING" },
    ],
  });
  const instance = await testInstance({ config });
  const root = await signedInUser(instance, { email: "root@example.com", role: "admin" });
  const call = callAs(instance, root.principal);
  await call(createProject, { name: "Finance" });
  await call(setProjectMember, { project: "finance", email: "ann@example.com", role: "editor" });
  const { cookie } = await signIn(
    instance,
    await addUser(instance, { email: "ann@example.com", role: "member" }),
  );
  const { url } = await instance.rest({ config });
  const request = apiClient(url);
  const ann = (method: string, path: string, body?: unknown) =>
    request(method, path, body, { Cookie: cookie, "Sec-Fetch-Site": "same-origin" });
  const grant = (kind: string, name: string, more: object = {}) =>
    call(addGrant, { project: "finance", kind, name, ...more });
  const refusal = async (kind: string, name: string, more: object = {}): Promise<unknown> =>
    grant(kind, name, more).then(
      () => "granted",
      (error: { details?: { errors?: { path: string; did_you_mean?: string }[] } }) =>
        error.details?.errors?.map(({ path, did_you_mean: near }) => `${path} ${near ?? ""}`.trim()),
    );
  return { instance, call, ann, grant, refusal };
}

interface Environment {
  databases: { name: string; access: string }[];
  models: { name: string }[];
  mcp_servers: { name: string }[];
  secrets: { name: string }[];
  mail: { allowed_domains: string[] };
}

describe("grants", () => {
  it("say why a public host can't be granted, and which ones can", async () => {
    const { call, grant } = await open({ public: "list", public_hosts: ["hooks.example.com"] });
    const issue = async (name: string): Promise<unknown> =>
      grant("host", name).then(
        () => "granted",
        (error: { details?: { errors?: unknown[] } }) => error.details?.errors?.[0],
      );
    expect(await issue("hooks.example.com")).toMatchObject({
      code: "not_allowed",
      message: "is hooks.example.com, a public host, and http_public of this project is not list",
      fix: expect.stringContaining("--http-public list") as string,
    });
    await call(updateProject, { project: "finance", http_public: "list" });
    expect(await issue("hooks.example.com")).toBe("granted");
    expect(await issue("a.b")).toMatchObject({
      code: "not_found",
      message: "is not the name of a host that the configuration (http) allows, got a.b",
      allowed: ["10.0.0.5:8080", "*.internal.test", "hooks.example.com"],
    });
  });

  it("decide what the people of a project see of the environment", async () => {
    const { ann, grant, call } = await open();
    const seen = async () => (await ann("GET", "/environment")).body as Environment;
    expect(await seen()).toMatchObject({
      databases: [],
      default_database: null,
      models: [],
      mcp_servers: [],
      secrets: [],
      mail: { allowed_domains: [] },
    });
    expect(await seen()).not.toHaveProperty("chats");
    await grant("database", "shop", { access: "read-only" });
    await grant("model", "writer");
    await grant("mcp_server", "crm", { tools: ["find"] });
    await grant("secret", "hook");
    await grant("mail", "example.com");
    await grant("chat", "finance");
    expect(await seen()).toMatchObject({
      databases: [{ name: "shop", access: "read-only" }],
      models: [{ name: "writer" }],
      mcp_servers: [{ name: "crm" }],
      secrets: [{ name: "hook" }],
      mail: { allowed_domains: ["example.com"] },
      chats: [{ name: "finance", type: "teams" }],
    });
    expect(JSON.stringify(await seen())).not.toContain("ledger");
    await call(removeGrant, { project: "finance", kind: "database", name: "shop" });
    expect((await seen()).databases).toEqual([]);
  });

  it("let approvals be posted only to granted chats", async () => {
    const { ann, grant } = await open();
    await grant("chat", "finance");
    const check = async (chat: string) => {
      const definition = { steps: [{ id: "ask", type: "approval", message: "Pay?", chat: [chat] }] };
      const { body } = await ann("POST", "/workflows/validate", { definition, project: "finance" });
      return [...body.errors, ...(body.warnings ?? [])] as {
        code: string;
        fix?: string;
        allowed?: string[];
      }[];
    };
    expect(await check("finance")).toMatchObject([{ code: "unusable" }]);
    const refused = await check("board");
    expect(refused).toMatchObject([{ code: "unknown_chat", allowed: ["finance"] }]);
    expect(refused[0]!.fix).toContain("granted to the project");
    // As a chat that is nowhere in the configuration.
    expect((await check("nowhere"))[0]).toMatchObject({ code: "unknown_chat", fix: refused[0]!.fix });
  });

  it("refuse writes, and say who can allow them", async () => {
    const { ann, grant } = await open();
    await grant("database", "shop", { access: "read-only" });
    const definition = {
      steps: [{ id: "gone", type: "sql", database: "shop", write: true, query: "delete from orders" }],
    };
    const { body } = await ann("POST", "/workflows", { name: "Gone", definition, project: "finance" });
    expect(body).toMatchObject({
      issues: [
        {
          code: "database_read_only",
          fix: expect.stringContaining("ask an admin for write access to shop: its grant") as string,
        },
      ],
    });
  });

  it("decide which database can be described, and a name that is not granted looks like a missing one", async () => {
    const { ann, grant } = await open();
    const describe_ = (name: string) => ann("GET", `/environment/databases/${name}`);
    const text = ({ status, body }: Awaited<ReturnType<typeof ann>>, name: string) =>
      JSON.stringify([status, { ...body, request_id: "" }]).replaceAll(name, "(name)");
    const [ungranted, missing] = [await describe_("ledger"), await describe_("legder")];
    expect(ungranted.status).toBe(404);
    expect(text(ungranted, "ledger")).toBe(text(missing, "legder"));
    await grant("database", "shop");
    expect(await describe_("shop")).toMatchObject({ status: 200, body: { tables: [{ name: "orders" }] } });
    expect(text(await describe_("ledger"), "ledger")).toBe(text(await describe_("legder"), "legder"));
    expect((await ann("GET", "/environment/databases/shop?project=default")).status).toBe(404);
  });

  it("decide what a definition is checked with and what runs, through every operation", async () => {
    const { ann, grant } = await open();
    const definition = {
      steps: [{ id: "q", type: "sql", database: "ledger", query: "select region from orders" }],
    };
    const codes = ({ body }: Awaited<ReturnType<typeof ann>>): string[] =>
      (
        (body as { errors?: { code: string }[]; issues?: { code: string }[] }).errors ??
        (body as { issues?: { code: string }[] }).issues ??
        []
      ).map(({ code }) => code);
    expect(codes(await ann("POST", "/workflows/validate", { definition }))).toEqual(["unknown_database"]);
    const created = await ann("POST", "/workflows", { name: "Ledger", definition });
    expect(codes(created)).toEqual(["unknown_database"]);
    const { id } = created.body as unknown as { id: string };
    const refused = await ann("POST", `/workflows/${id}/runs`, {});
    expect([refused.status, codes(refused)]).toEqual([409, ["unknown_database"]]);
    expect(codes(await ann("POST", `/workflows/${id}/publish`))).toEqual(["unknown_database"]);
    await grant("database", "ledger");
    expect((await ann("POST", `/workflows/${id}/publish`)).status).toBe(200);
    expect((await ann("POST", `/workflows/${id}/runs`, {})).status).toBe(202);
    // The large definition is checked in a thread.
    const large = {
      steps: [
        ...definition.steps,
        ...Array.from({ length: 60 }, (_, n) => ({
          id: `s${n}`,
          type: "set",
          values: { x: "y".repeat(300) },
        })),
        { id: "z", type: "sql", database: "shop", query: "select 1 as one" },
      ],
    };
    expect(codes(await ann("POST", "/workflows/validate", { definition: large }))).toEqual([
      "unknown_database",
    ]);
  });

  it("are refused for what is not configured, with a near match", async () => {
    const { refusal } = await open();
    expect(await refusal("database", "shp")).toEqual(["name shop"]);
    expect(await refusal("database", "writer")).toEqual(["name"]);
    expect(await refusal("model", "writr")).toEqual(["name writer"]);
    expect(await refusal("mcp_server", "cmr")).toEqual(["name crm"]);
    expect(await refusal("secret", "hok")).toEqual(["name hook"]);
    expect(await refusal("chat", "finances")).toEqual(["name finance"]);
    expect(await refusal("mail", "example.con")).toEqual(["name example.com"]);
    expect(await refusal("mail", "xn--bcher-kva.exampl")).toEqual(["name xn--bcher-kva.example"]);
    expect(await refusal("mail", "BÜCHER.example")).toBe("granted");
    expect(await refusal("host", "10.0.0.6")).not.toBe("granted");
    expect(await refusal("host", "public.example.com")).not.toBe("granted");
    for (const name of ["10.0.0.5:8080", "*.internal.test", "reports.internal.test"])
      expect(await refusal("host", name)).toBe("granted");
    expect(await refusal("database", "warehouse", { role: "finace" })).toEqual(["role finance"]);
    expect(await refusal("database", "shop", { role: "finance" })).toEqual(["role"]);
    expect(await refusal("model", "writer", { role: "x", access: "read-only", tools: ["a"] })).toEqual([
      "access",
      "role",
      "tools",
    ]);
    expect(await refusal("database", "warehouse", { role: "finance", access: "read-only" })).toBe("granted");
  });

  it("are replaced when they are made again, listed in order, and audited", async () => {
    const { call, grant, instance, ann } = await open();
    await grant("model", "writer");
    await grant("database", "shop", { access: "read-only" });
    await grant("database", "shop");
    const { items, total } = await call(listGrants, { project: "finance" });
    expect(items).toMatchObject([
      { kind: "database", name: "shop", granted_by: "root@example.com" },
      { kind: "model", name: "writer" },
    ]);
    expect(items[0]).not.toHaveProperty("access");
    expect(total).toBe(2);
    expect((await ann("GET", "/projects/finance/grants")).body).toHaveLength(2);
    await call(removeGrant, { project: "finance", kind: "model", name: "writer" });
    const entries = await instance.read.audit.page({
      filter: {},
      before: null,
      limit: 100,
    });
    expect(
      entries
        .filter(({ operation }) => operation.endsWith("_grant"))
        .map(({ operation, target, project }) => [operation, target, project]),
    ).toEqual([
      ["remove_grant", "model:writer", "finance"],
      ["add_grant", "database:shop", "finance"],
      ["add_grant", "database:shop", "finance"],
      ["add_grant", "model:writer", "finance"],
    ]);
  });

  it("are made by admins of the instance only", async () => {
    const { ann, call } = await open();
    await call(setProjectMember, { project: "finance", email: "ann@example.com", role: "admin" });
    expect((await ann("PUT", "/projects/finance/grants/database/shop", {})).status).toBe(403);
    expect((await ann("DELETE", "/projects/finance/grants/database/shop")).status).toBe(403);
    expect((await ann("GET", "/projects/finance/grants")).status).toBe(200);
    expect((await ann("GET", "/projects/default/grants")).status).toBe(404);
  });
});
