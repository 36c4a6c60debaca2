import { describe, expect, it } from "vitest";
import { createProject } from "../../tools/projects/create-project.ts";
import { setProjectMember } from "../../tools/projects/set-project-member.ts";
import { apiClient } from "../support/http.ts";
import { eventually } from "../support/eventually.ts";
import { testInstance } from "../support/instance.ts";
import { addUser, callAs, signedInUser, signIn } from "../support/users.ts";

const ASKING = {
  steps: [{ id: "ask", type: "approval", message: "Go?", timeout: "2h" }],
  schedule: { cron: "0 3 * * *", timezone: "UTC" },
};

async function open() {
  const instance = await testInstance();
  const root = await signedInUser(instance, { email: "root@example.com", role: "admin" });
  const call = callAs(instance, root.principal);
  await call(createProject, { name: "Finance" });
  const { url } = await instance.rest();
  const as = (cookie: string) => (method: string, path: string, body?: unknown) =>
    apiClient(url)(method, path, body, { Cookie: cookie, "Sec-Fetch-Site": "same-origin" });
  return { instance, call, url, admin: as(root.cookie), as };
}

describe("lists", () => {
  it("are limited to a project on request, and show the project of all but the default one", async () => {
    const { instance, admin } = await open();
    await instance.executor();
    for (const project of ["default", "finance"]) {
      const { body, status } = await admin("POST", "/workflows", {
        name: "Asking",
        definition: ASKING,
        project,
      });
      expect(status).toBe(201);
      expect(body).toMatchObject(
        project === "default" ? { id: "asking" } : { id: "finance.asking", project: "finance" },
      );
      expect((await admin("POST", `/workflows/${body.id}/publish`, {})).status).toBe(200);
      expect((await admin("POST", `/workflows/${body.id}/runs`, { wait: 0 })).status).toBe(202);
    }
    await eventually(
      async () => ((await admin("GET", "/approvals")).body as unknown[]).length === 2 || undefined,
      "both approvals",
    );
    for (const path of ["/workflows", "/runs", "/approvals", "/schedules"]) {
      const listed = async (query: string) => {
        const { body, headers } = await admin("GET", `${path}?limit=10&${query}`);
        const items = body as unknown as Record<string, unknown>[];
        expect(headers.get("x-total-count")).toBe(String(items.length));
        return items.map(
          ({ project = "none", id, workflow_id: of = id }) => `${String(of)}: ${String(project)}`,
        );
      };
      expect({ path, ids: (await listed("")).toSorted() }).toEqual({
        path,
        ids: ["asking: none", "finance.asking: finance"],
      });
      expect(await listed("project=finance")).toEqual(["finance.asking: finance"]);
      expect(await listed("project=default")).toEqual(["asking: none"]);
      expect((await admin("GET", `${path}?project=finnance`)).body).toMatchObject({
        code: "project_not_found",
      });
      // A cursor of one project is none of another.
      const link = (await admin("GET", `${path}?limit=1`)).headers.get("link")!;
      expect(
        (await admin("GET", `${path}?limit=1&project=finance&cursor=${/cursor=([^&>]+)/.exec(link)![1]!}`))
          .body,
      ).toMatchObject({ code: "invalid_cursor" });
    }
    const { body } = await admin("GET", "/audit-log?limit=100&project=finance");
    const targets = new Set((body as unknown as { target: string }[]).map(({ target }) => target));
    expect([...targets].filter((target) => !target.startsWith("run_")).toSorted()).toEqual([
      "finance",
      "finance.asking",
    ]);
  });

  it("filter by a project of others as by none", async () => {
    const { instance, as } = await open();
    const vic = as((await signedInUser(instance, { email: "vic@example.com", role: "viewer" })).cookie);
    for (const path of ["/workflows", "/runs", "/approvals", "/schedules"]) {
      const [others, none] = await Promise.all(
        ["finance", "nothing"].map(async (project) => {
          const { status, body } = await vic("GET", `${path}?project=${project}`);
          return JSON.stringify({ status, ...body, request_id: "" }).replaceAll(project, "(project)");
        }),
      );
      expect(others).toBe(none);
      expect(others).toContain("project_not_found");
    }
  });

  it("of ids leave out workflows of other projects", async () => {
    const { instance, admin, as } = await open();
    for (const project of ["default", "finance"])
      expect((await admin("POST", "/workflows", { name: "Weekly", project })).status).toBe(201);
    const vic = as((await signedInUser(instance, { email: "vic@example.com", role: "viewer" })).cookie);
    const ids = async (call: typeof admin) => {
      const { body } = await call("GET", "/workflows?ids=weekly,finance.weekly&sort=name&limit=100");
      return (body as unknown as { id: string }[]).map(({ id }) => id);
    };
    expect(await ids(admin)).toEqual(["finance.weekly", "weekly"]);
    expect(await ids(vic)).toEqual(["weekly"]);
  });
});

describe("a new workflow", () => {
  it("belongs to the only project of its author, or to the named one", async () => {
    const { instance, call, as } = await open();
    await call(createProject, { name: "Sales" });
    const ann = await addUser(instance, { email: "ann@example.com", role: "member" });
    const request = as((await signIn(instance, ann)).cookie);
    const member = (project: string, role: string) =>
      call(setProjectMember, { project, email: ann.email, role });
    await member("finance", "editor");
    expect((await request("POST", "/workflows", { name: "Weekly" })).body).toMatchObject({
      id: "finance.weekly",
      project: "finance",
    });
    expect((await request("POST", "/workflows", { name: "Weekly" })).body.id).toBe("finance.weekly-2");
    await member("sales", "viewer");
    expect((await request("POST", "/workflows", { name: "Monthly" })).body.id).toBe("finance.monthly");
    expect((await request("POST", "/workflows", { name: "Weekly", project: "sales" })).body).toMatchObject({
      code: "missing_scope",
    });
    await member("sales", "editor");
    expect((await request("POST", "/workflows", { name: "Weekly" })).body).toMatchObject({
      code: "invalid_input",
      errors: [{ path: "project", allowed: ["finance", "sales"] }],
    });
    expect((await request("POST", "/workflows", { name: "Weekly", project: "sales" })).body.id).toBe(
      "sales.weekly",
    );
    expect((await request("POST", "/workflows", { name: "Weekly", project: "default" })).body).toMatchObject({
      code: "project_not_found",
    });
  });
});
