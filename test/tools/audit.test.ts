import { describe, expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import { HOUR } from "../../src/core/clock.ts";
import { listAuditLog } from "../../tools/audit/list-audit-log.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { callAs, signedInUser, keyPrincipal } from "../support/users.ts";

/** Entries of a key and of a signed-in user, an hour apart. */
async function busy() {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const ann = await signedInUser(instance);
  const bySession = callAs(instance, ann.principal, { surface: "web", name: "Firefox 145 on Linux" });
  const byKey = callAs(instance, keyPrincipal(["read", "write"]), { surface: "rest", name: "curl/8.14.1" });
  await byKey(createWorkflow, { name: "Weekly revenue" });
  clock.advance(HOUR);
  await bySession(updateWorkflow, { workflow_id: "weekly-revenue", description: "Net" });
  clock.advance(HOUR);
  await bySession(createWorkflow, { name: "Nightly backup" });
  const admin = callAs(instance, keyPrincipal(["read", "admin"]));
  const found = async (input: Record<string, unknown> = {}) =>
    (await admin(listAuditLog, input)).items.map(({ operation, target }) => `${operation} ${target}`);
  return { instance, bySession, admin, found };
}

const [CREATED, CHANGED, NIGHTLY] = [
  "create_workflow weekly-revenue",
  "update_workflow weekly-revenue",
  "create_workflow nightly-backup",
];

describe("list_audit_log", () => {
  it("returns who did what with which key and client, newest first", async () => {
    const { admin, found } = await busy();
    expect(await found()).toEqual([NIGHTLY, CHANGED, CREATED]);
    const { items, total } = await admin(listAuditLog);
    expect(total).toBe(3);
    expect(items[2]).toEqual({
      id: expect.any(Number),
      at: "2026-11-21T08:00:00.000Z",
      operation: "create_workflow",
      target: "weekly-revenue",
      owner: "operator",
      key_name: "test",
      surface: "rest",
      client: "curl/8.14.1",
      request_id: expect.stringMatching(/^req_/),
      lineage: "key_test",
      details: { change: "created", version: 1, archived: false, published: "none" },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(items[1]).toMatchObject({ owner: "ann@example.com", key_name: "browser", surface: "web" });
  });

  it.each([
    [{ search: "REVENUE create" }, [CREATED]],
    [{ search: "firefox" }, [NIGHTLY, CHANGED]],
    [{ search: "curl ann" }, []],
    [{ owner: "ann@example.com" }, [NIGHTLY, CHANGED]],
    [{ operation: "create_workflow" }, [NIGHTLY, CREATED]],
    [{ target: "weekly-revenue", surface: "web" }, [CHANGED]],
    [{ since: "2026-11-21T09:00:00Z", until: "2026-11-21T10:00:00Z" }, [CHANGED]],
    [{ until: "2026-11-21" }, []],
  ])("finds by %j", async (filter, expected) => {
    const { admin, found } = await busy();
    expect(await found(filter)).toEqual(expected);
    expect((await admin(listAuditLog, { ...filter, limit: 1 })).total).toBe(expected.length);
  });

  it.each([
    ["Größe/2", ["Größe/2", "gro\u0308ße/2", "GRÖSSE", "größe update"], ["grosse", "Gr_ße", "Gr%"]],
    ["ÉTÉ 100%_\\", ["ÉTÉ", "été", "e\u0301te\u0301", "100%_\\"], ["ete", "10_%", "\\%"]],
    ["ОТЧЁТ", ["ОТЧЁТ", "отчёт", "отче\u0308т"], ["отчет"]],
    ["ΟΔΟΣ", ["ΟΔΟΣ", "οδος", "οδοσ"], ["οδόσ"]],
    ["İzmir", ["İzmir", "i\u0307zmir"], []],
  ])("finds the client %j whatever the case and the form of its letters", async (name, hits, misses) => {
    const { instance, admin } = await busy();
    const call = callAs(instance, keyPrincipal(["read", "write"]), { surface: "rest", name });
    await call(updateWorkflow, { workflow_id: "weekly-revenue", description: name });
    const totals = async (words: readonly string[]) => {
      const all = [];
      for (const search of words) all.push((await admin(listAuditLog, { search })).total);
      return all;
    };
    expect(await totals(hits)).toEqual(hits.map(() => 1));
    expect(await totals(misses)).toEqual(misses.map(() => 0));
  });

  it("pages through the entries", async () => {
    const { admin, found } = await busy();
    const first = await admin(listAuditLog, { limit: 2 });
    expect(first).toMatchObject({ total: 3, next_cursor: expect.any(String) });
    expect(await found({ limit: 2, cursor: first.next_cursor })).toEqual([CREATED]);
    expect((await admin(listAuditLog, { limit: 3 })).next_cursor).toBeNull();
    await expect(admin(listAuditLog, { owner: "x", cursor: first.next_cursor })).rejects.toMatchObject({
      code: "invalid_cursor",
    });
  });

  it("is allowed for admins, signed in or with a key", async () => {
    const { instance, bySession } = await busy();
    await expect(bySession(listAuditLog)).rejects.toMatchObject({ code: "missing_scope" });
    const scopes: Scope[] = ["read", "write", "publish", "run", "approve"];
    await expect(callAs(instance, keyPrincipal(scopes))(listAuditLog)).rejects.toMatchObject({
      code: "missing_scope",
    });
    const root = await signedInUser(instance, { email: "root@example.com", role: "admin" });
    expect((await callAs(instance, root.principal)(listAuditLog)).total).toBe(3);
  });

  it("refuses searches with too many words, and invalid times", async () => {
    const { admin } = await busy();
    const search = Array.from({ length: 9 }, (_, i) => `w${i}`).join(" ");
    await expect(admin(listAuditLog, { search, since: "yesterday" })).rejects.toMatchObject({
      details: {
        errors: [
          { path: "search", code: "too_many_words" },
          { path: "since", code: "wrong_format" },
        ],
      },
    });
  });
});
