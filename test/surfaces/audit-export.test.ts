import { describe, expect, it } from "vitest";
import type { AuditEntry } from "../../schemas/audit.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";

async function open(entries: number) {
  const instance = await testInstance();
  await instance.store.transaction(async (trx) => {
    for (let from = 0; from < entries; from += 500)
      await trx
        .insertInto("audit_log")
        .values(
          Array.from({ length: Math.min(500, entries - from) }, (_, n) => ({
            at: "2026-11-21T08:00:00.000Z",
            operation: "publish_workflow",
            target: `workflow-${from + n}`,
            owner: "operator",
            surface: "rest" as const,
            client: "c",
          })),
        )
        .execute();
  });
  const { url } = await instance.rest();
  const { value, record } = await instance.key({ scopes: ["read", "admin"] });
  return {
    url,
    value,
    call: apiClient(url, value),
    /** A second project, to which the entries 2 and 3 belong. */
    addFinance: () =>
      instance.store.transaction(async (trx) => {
        await trx.updateTable("audit_log").set({ project: "finance" }).where("id", "in", [2, 3]).execute();
        await trx
          .insertInto("projects")
          .values({
            id: "finance",
            name: "Finance",
            description: "",
            connections: "all",
            review: 0,
            created_at: "2026-11-21T08:00:00.000Z",
            created_by: "operator",
          })
          .execute();
      }),
    limitKey: (columns: { projects: string } | { limits: string }) =>
      instance.store.transaction((trx) =>
        trx.updateTable("api_keys").set(columns).where("id", "=", record.id).execute(),
      ),
  };
}

/** The id and the hash of an entry, for callers who do not see all entries. */
const SEALED = [expect.stringMatching(/^aud_[\w-]{32}$/), null];

describe("GET /audit-log/export", () => {
  it("streams every entry as a line, oldest first, as a file", async () => {
    const { url, value } = await open(3_500);
    const response = await fetch(`${url}/audit-log/export`, { headers: { "X-API-Key": value } });
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="audit-log.jsonl"');
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
    expect(response.headers.get("x-total-count")).toBe("3501");
    // Several pages: the length is not known when the first one is sent.
    expect(response.headers.get("content-length")).toBeNull();
    const text = await response.text();
    expect(text.endsWith("}\n")).toBe(true);
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as AuditEntry);
    expect(lines.map(({ id }) => id)).toEqual(Array.from({ length: 3_501 }, (_, n) => n + 1));
    // The key was created by this release.
    expect(lines.at(-1)).toMatchObject({
      operation: "create_api_key",
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });

  it("sends nothing where nothing matches, and one page where one is asked for", async () => {
    const { call } = await open(5);
    const none = await call("GET", "/audit-log/export?target=nothing");
    expect([none.status, none.body, none.headers.get("content-length")]).toEqual([200, [], "0"]);
    const page = await call("GET", "/audit-log/export?limit=2&since=2026-11-20");
    expect((page.body as AuditEntry[]).map(({ id }) => id)).toEqual([1, 2]);
    const next = /<([^>]+)>; rel="next"/.exec(page.headers.get("link")!)![1]!;
    expect(((await call("GET", next)).body as AuditEntry[]).map(({ id }) => id)).toEqual([3, 4]);
    const head = await call("HEAD", "/audit-log/export");
    expect([head.status, head.body]).toEqual([200, []]);
  });

  it("streams CSV for spreadsheets, with the same filters and rights", async () => {
    const { url, value, call, addFinance, limitKey } = await open(2_500);
    const get = (query: string) =>
      fetch(`${url}/audit-log/export?format=csv${query}`, { headers: { "X-API-Key": value } });
    const response = await get("&until=2026-11-22");
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="audit-log.csv"');
    const lines = (await response.text()).trimEnd().split("\r\n");
    expect(lines).toHaveLength(2_501);
    expect(lines[0]).toBe(
      "id,at,operation,target,project,owner,key_name,lineage,surface,client,request_id,details,hash",
    );
    expect(lines[2_500]).toBe(
      "2500,2026-11-21T08:00:00.000Z,publish_workflow,workflow-2499,,operator,,,rest,c,,,",
    );
    expect((await (await get("&target=nothing")).text()).trimEnd()).toBe(lines[0]);
    expect((await call("GET", "/audit-log/export?format=xls")).status).toBe(400);
    await addFinance();
    await limitKey({ projects: JSON.stringify(["finance"]) });
    const own = (await (await get("")).text()).trimEnd().split("\r\n");
    expect(own.slice(1).map((line) => line.split(",")[3])).toEqual(["workflow-1", "workflow-2"]);
  });

  it("filters by project", async () => {
    const { call, addFinance, limitKey } = await open(4);
    expect((await call("GET", "/audit-log?project=finance")).status).toBe(404);
    await addFinance();
    await limitKey({ projects: JSON.stringify(["default", "finance"]) });
    const { body } = await call("GET", "/audit-log/export?project=finance");
    expect(body).toMatchObject([
      { target: "workflow-1", project: "finance" },
      { target: "workflow-2", project: "finance" },
    ]);
    expect((await call("GET", "/audit-log?project=finance")).body).toHaveLength(2);
    const others = (await call("GET", "/audit-log?project=default")).body as AuditEntry[];
    expect(others.map(({ operation, project }) => [operation, project])).toEqual([
      ["create_api_key", undefined],
      ["publish_workflow", undefined],
      ["publish_workflow", undefined],
    ]);
  });

  it("shows the admin of a project only the entries of this project, and a key limited to workflows none", async () => {
    const { call, addFinance, limitKey } = await open(4);
    await addFinance();
    await limitKey({ projects: JSON.stringify(["finance"]) });
    const entries = async (path: string) => (await call("GET", path)).body as AuditEntry[];
    const [exported, listed] = [await entries("/audit-log/export"), await entries("/audit-log?limit=10")];
    expect(exported).toEqual(listed.toReversed());
    // Numbers and hashes of the whole log would tell how much others do.
    expect(exported.map(({ id, hash }) => [id, hash])).toEqual([SEALED, SEALED]);
    expect(new Set(exported.map(({ id }) => id)).size).toBe(2);
    const page = await call("GET", "/audit-log?limit=1");
    const next = /<([^>]+)>; rel="next"/.exec(page.headers.get("link")!)![1]!;
    const cursor = new URL(next, "http://localhost").searchParams.get("cursor")!;
    expect(Buffer.from(cursor, "base64url").toString("latin1")).not.toMatch(/"\d{1,10}"/);
    expect(await entries(next)).toEqual([listed[1]]);
    expect((await call("GET", "/audit-log/export")).headers.get("x-total-count")).toBe("2");
    expect((await call("GET", "/audit-log/export?project=default")).status).toBe(404);
    await limitKey({ limits: JSON.stringify({ workflows: ["workflow-2"] }) });
    expect((await call("GET", "/audit-log/export")).status).toBe(403);
  });
});
