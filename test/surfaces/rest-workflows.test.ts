import { describe, expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import { fakeClock } from "../support/instance.ts";
import { addUser } from "../support/users.ts";
import { expectProblem, openRest } from "../support/rest.ts";

describe("POST /workflows", () => {
  it("creates a workflow from name and description alone, with 201, Location and ETag", async () => {
    const { call } = await openRest({ clock: fakeClock() });
    const created = await call("POST", "/workflows", { name: "Weekly revenue", description: "By region" });
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe("/workflows/weekly-revenue");
    expect(created.headers.get("etag")).toBe('"1"');
    expect(created.headers.get("content-type")).toBe("application/json");
    expect(created.body).toEqual({
      id: "weekly-revenue",
      name: "Weekly revenue",
      description: "By region",
      tags: [],
      status: "draft",
      definition: null,
      version: 1,
      published_version: null,
      created_at: "2026-11-21T08:00:00.000Z",
      updated_at: "2026-11-21T08:00:00.000Z",
      created_by: "operator",
    });
    const there = await call("GET", created.headers.get("location")!);
    expect(there).toMatchObject({ status: 200, body: created.body });
  });

  it.each([
    ["週次の売上", "zhou-cino-mai-shang"],
    ["🦄🚀", "unicorn"],
    ["Отчёт по выручке", "otchyot-po-vyruchke"],
    ["..", "workflow"],
    ["../../etc/passwd", "etc-passwd"],
    ["validate", "validate-2"],
    ["constructor", "constructor"],
    ["__proto__", "proto"],
  ])("derives a readable, unique id from the name %s", async (name, id) => {
    const { call } = await openRest();
    const first = await call("POST", "/workflows", { name });
    expect(first.body).toMatchObject({ id, name });
    const second = await call("POST", "/workflows", { name });
    expect(second.body.id).not.toBe(id);
    expect(second.body.name).toBe(name);
    for (const { headers, body } of [first, second]) {
      expect(headers.get("location")).toBe(`/workflows/${body.id}`);
      expect((await call("GET", headers.get("location")!)).body).toEqual({ ...body, used_by: [] });
    }
  });

  it("counts a name in code points: accepts 200 emoji, and refuses 201", async () => {
    const { call } = await openRest();
    const taken = await call("POST", "/workflows", { name: "🦄".repeat(200) });
    expect(taken.body.name).toBe("🦄".repeat(200));
    const { errors } = expectProblem(
      await call("POST", "/workflows", { name: "🦄".repeat(201) }),
      "invalid_input",
    );
    expect(errors).toEqual([
      { path: "name", code: "too_long", message: "must be at most 200 characters, got 201" },
    ]);
  });
});

describe("PATCH /workflows/{workflow_id}", () => {
  it("replaces the given fields and keeps the others", async () => {
    const { call } = await openRest();
    const definition = { steps: [{ id: "a", type: "set", values: {} }] };
    await call("POST", "/workflows", { name: "A", description: "old", tags: ["x"], definition });
    const changed = await call("PATCH", "/workflows/a", { description: "new" });
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).toBe('"2"');
    expect(changed.body).toMatchObject({
      id: "a",
      name: "A",
      description: "new",
      tags: ["x"],
      definition,
      version: 2,
    });
    const cleared = await call("PATCH", "/workflows/a", { definition: null, tags: [] });
    expect(cleared.body).toMatchObject({ definition: null, tags: [], description: "new", version: 3 });
  });

  it("keeps the id when the name changes, and creates no version without a change", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    const renamed = await call("PATCH", "/workflows/a", { name: "B" });
    expect(renamed.body).toMatchObject({ id: "a", name: "B", version: 2 });
    const again = await call("PATCH", "/workflows/a", { name: "B" });
    expect(again.body).toEqual(renamed.body);
  });
});

describe("DELETE /workflows/{workflow_id} and POST …/restore", () => {
  it("archive a workflow (unlisted, readable, unchangeable) and restore it", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A", description: "d" });
    const archived = await call("DELETE", "/workflows/a?reason=not%20needed");
    expect(archived).toMatchObject({ status: 200, body: { id: "a", status: "archived", version: 2 } });
    expect(archived.headers.get("etag")).toBe('"2"');
    expect((await call("GET", "/workflows")).body).toEqual([]);
    expect((await call("GET", "/workflows?status=archived")).body).toMatchObject([{ id: "a" }]);
    expect((await call("GET", "/workflows/a")).body).toEqual({ ...archived.body, used_by: [] });
    const refused = expectProblem(await call("PATCH", "/workflows/a", { name: "B" }), "workflow_archived");
    expect(refused.detail).toContain("POST /workflows/a/restore");

    const restored = await call("POST", "/workflows/a/restore", { reason: "needed after all" });
    expect(restored).toMatchObject({ status: 200, body: { status: "draft", version: 3, description: "d" } });
    expect((await call("GET", "/workflows")).body).toMatchObject([{ id: "a", version: 3 }]);
  });

  it("do nothing if it is already archived or restored", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    const unneeded = await call("POST", "/workflows/a/restore");
    expect(unneeded).toMatchObject({ status: 200, body: { version: 1 } });
    const first = await call("DELETE", "/workflows/a");
    const second = await call("DELETE", "/workflows/a");
    expect(second.body).toEqual(first.body);
  });

  it("never give the id of an archived workflow to another", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    await call("DELETE", "/workflows/a");
    expect((await call("POST", "/workflows", { name: "A" })).body.id).toBe("a-2");
  });
});

describe("GET /workflows/{workflow_id}/versions", () => {
  it("returns who changed what, when, with which client and why, newest first", async () => {
    const clock = fakeClock();
    const { instance, url, call } = await openRest({ clock });
    await addUser(instance, { email: "ada@example.org" });
    const { value } = await instance.key({ name: "nightly", owner: "ada@example.org" });
    const other = apiClient(url, value);
    await call("POST", "/workflows", { name: "A", reason: "first" }, { "User-Agent": "curl/8.14.1" });
    clock.advance(60_000);
    const definition = { steps: [] };
    await other("PATCH", "/workflows/a", { definition, reason: "net" }, { "User-Agent": "deploy/2" });
    clock.advance(60_000);
    await call("DELETE", "/workflows/a");

    const { body } = await call("GET", "/workflows/a/versions");
    const entry = { workflow_id: "a", name: "A", description: "", tags: [], surface: "rest" };
    expect(body).toEqual([
      {
        ...entry,
        version: 3,
        change: "archived",
        reason: null,
        created_at: "2026-11-21T08:02:00.000Z",
        created_by: "operator",
        key_name: "test",
        client: "node",
      },
      {
        ...entry,
        version: 2,
        change: "updated",
        reason: "net",
        created_at: "2026-11-21T08:01:00.000Z",
        created_by: "ada@example.org",
        key_name: "nightly",
        client: "deploy/2",
      },
      {
        ...entry,
        version: 1,
        change: "created",
        reason: "first",
        created_at: "2026-11-21T08:00:00.000Z",
        created_by: "operator",
        key_name: "test",
        client: "curl/8.14.1",
      },
    ]);
    const whole = await call("GET", "/workflows/a/versions?include=definition");
    expect(whole.body.map((version: { definition: unknown }) => version.definition)).toEqual([
      definition,
      definition,
      null,
    ]);
    expect((await call("GET", "/workflows/a/versions/2")).body).toEqual({
      ...whole.body[1],
      definition_text: null,
    });
  });

  it("names the existing versions when asked for another", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    const { detail } = expectProblem(await call("GET", "/workflows/a/versions/2"), "version_not_found");
    expect(detail).toContain("1 to 1");
  });
});

describe("an id that does not exist", () => {
  it("gets 404 on every route, with the nearest id", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "Weekly revenue" });
    const wrong = "/workflows/weekly-revenu";
    for (const answer of [
      await call("GET", wrong),
      await call("PATCH", wrong, { name: "x" }),
      await call("DELETE", wrong),
      await call("POST", `${wrong}/restore`),
      await call("GET", `${wrong}/versions`),
      await call("GET", `${wrong}/versions?limit=1`),
      await call("GET", `${wrong}/versions/1`),
    ]) {
      const { detail, errors } = expectProblem(answer, "workflow_not_found");
      expect(detail).toContain('Did you mean "weekly-revenue"?');
      expect(errors).toMatchObject([
        { path: "workflow_id", code: "not_found", did_you_mean: "weekly-revenue" },
      ]);
    }
  });
});
