import { describe, expect, it } from "vitest";
import { addressOfId, intentOf, matches } from "../../../src/web/palette/intent.ts";
import { groupsOf } from "../../../src/web/palette/items.tsx";
import { type Visit, withVisit } from "../../../src/web/palette/recent.ts";

const Icon = () => null;
const WORKFLOW = {
  id: "weekly-revenue",
  name: "Weekly revenue",
  description: "By region\nand month",
  tags: [],
  status: "published",
  version: 1,
  published_version: 1,
  created_at: "2026-11-21T08:00:00Z",
  updated_at: "2026-11-21T08:00:00Z",
  created_by: "ann@example.com",
} as const;

function found(query: string, scopes: readonly string[] = ["read", "run", "write"]) {
  const groups = groupsOf({
    intent: intentOf(query),
    pages: [
      { to: "/", label: "Home", Icon },
      { to: "/audit", label: "Audit log", Icon },
    ],
    visits: [{ kind: "run", id: "run_8dkq2m0sfj3a", label: "Run of Weekly revenue" }],
    favorites: [{ workflow_id: "nightly", name: "Nightly", status: "draft" }],
    workflows: query === "" ? [] : [{ ...WORKFLOW, tags: [] }],
    people: [],
    hasScope: (scope) => scopes.includes(scope),
  });
  return groups.map(({ label, items }) => [label].concat(items.map((item) => `${item.label} → ${item.to}`)));
}

describe("the command palette", () => {
  it("shows what was opened last first, then favourites, actions and pages", () => {
    expect(found("", ["read"])).toEqual([
      ["Recent", "Run of Weekly revenue → /runs/run_8dkq2m0sfj3a"],
      ["Favourites", "Nightly → /workflows/nightly"],
      ["Actions", "Show failed runs → /runs?status=failed", "Create API key → /keys"],
      ["Pages", "Home → /", "Audit log → /audit"],
    ]);
  });

  it("finds workflows, opened runs, actions and pages", () => {
    expect(found("revenue")).toEqual([
      ["Workflows", "Weekly revenue → /workflows/weekly-revenue"],
      ["Runs", "Run of Weekly revenue → /runs/run_8dkq2m0sfj3a"],
    ]);
    expect(found("aud").at(-1)).toEqual(["Pages", "Audit log → /audit"]);
  });

  it("runs and edits what it finds, if the user may", () => {
    expect(found("run weekly")).toEqual([
      ["Run a workflow", "Run Weekly revenue → /workflows/weekly-revenue/run"],
    ]);
    expect(found("edit weekly")).toEqual([
      ["Edit a workflow", "Edit Weekly revenue → /workflows/weekly-revenue/edit"],
    ]);
    expect(found("run weekly", ["read"])).toEqual([]);
  });

  it("opens a pasted id", () => {
    expect(addressOfId(" run_8dkq2m0sfj3a ")?.to).toBe("/runs/run_8dkq2m0sfj3a");
    expect(addressOfId("apr_5pXq0aZr4mXw1kq0")?.to).toBe("/approvals/apr_5pXq0aZr4mXw1kq0");
    expect(addressOfId("run weekly")).toBeUndefined();
  });

  it("compares beginnings of words, ignoring case and accents", () => {
    expect(matches("Zürich audit log", "log zur")).toBe(true);
    expect(matches("Audit log", "dit")).toBe(false);
  });
});

const visit = (id: number): Visit => ({ kind: "workflow", id: `w${id}`, label: `W ${id}` });

describe("the pages that were opened last", () => {
  it("are listed once each, newest first, twelve at most", () => {
    let visits = [visit(1)];
    for (const id of [2, 3, 1]) visits = withVisit(visits, visit(id));
    expect(visits.map(({ id }) => id)).toEqual(["w1", "w3", "w2"]);
    for (let id = 4; id < 30; id += 1) visits = withVisit(visits, visit(id));
    expect(visits).toHaveLength(12);
  });
});
