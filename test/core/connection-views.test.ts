import { describe, expect, it, vi } from "vitest";
import type { ConnectionView } from "../../src/core/connection-view.ts";
import { connectionViews } from "../../src/core/connection-views.ts";
import type { ConfiguredConnections, Connections } from "../../src/core/connections.ts";
import type { Grant, ProjectReader, ProjectRecord } from "../../src/core/project-ports.ts";

const PROJECT: ProjectRecord = {
  id: "finance",
  name: "Finance",
  description: "",
  connections: "granted",
  httpPublic: null,
  review: false,
  backtest: null,
  limits: null,
  createdAt: "",
  createdBy: "operator",
};

/** Views over projects that the test changes, with the numbers of reads. */
function harness() {
  const limitedTo = vi.fn<ConfiguredConnections["limitedTo"]>(
    (view: ConnectionView) => ({ view }) as unknown as Connections,
  );
  const configured = { limitedTo } as unknown as ConfiguredConnections;
  const state = {
    revision: 1,
    projects: new Map<string, Partial<ProjectRecord>>([
      ["default", { connections: "all" }],
      ["finance", {}],
      ["other", {}],
    ]),
    grants: [] as Pick<Grant, "project" | "kind" | "name" | "options">[],
  };
  const projects = {
    revision: vi.fn<ProjectReader["revision"]>(() => Promise.resolve(state.revision)),
    find: vi.fn<ProjectReader["find"]>((id: string) => {
      const found = state.projects.get(id);
      return Promise.resolve(found && { ...PROJECT, id, ...found });
    }),
    grants: vi.fn<(id: string) => Promise<typeof state.grants>>((id) =>
      Promise.resolve(state.grants.filter(({ project }) => project === id)),
    ),
  };
  const views = connectionViews(configured, projects as unknown as ProjectReader);
  const grant = (project: string, name: string, options: Grant["options"] = null) => {
    state.grants = state.grants.filter((other) => other.project !== project || other.name !== name);
    state.grants.push({ project, kind: "database", name, options });
    state.revision += 1;
  };
  const databasesOf = async (project: string): Promise<string[] | null> => {
    const { connections } = await views.of(project);
    const { databases } = (connections as unknown as { view: ConnectionView }).view;
    return databases && [...databases.keys()];
  };
  return { views, configured, state, projects, grant, databasesOf, limitedTo };
}

describe("the connections of projects", () => {
  it("are not remembered as a transaction has read them, which may roll back", async () => {
    const { views, state, projects, grant, databasesOf } = harness();
    grant("finance", "ledger");
    const before = { ...state };
    grant("finance", "payroll");
    await views.of("finance", null, { ...projects } as unknown as ProjectReader);
    Object.assign(state, before);
    grant("finance", "archive");
    expect(await databasesOf("finance")).toEqual(["ledger", "archive"]);
  });

  it("are all of them in the default project, at the cost of one number", async () => {
    const { views, configured, projects, limitedTo } = harness();
    for (let i = 0; i < 100; i += 1)
      expect(await views.of("default")).toEqual({ connections: configured, key: "" });
    expect((await views.of("default", {})).connections).toBe(configured);
    expect(projects.find).toHaveBeenCalledTimes(1);
    expect(projects.grants).toHaveBeenCalledTimes(1);
    expect(projects.revision).toHaveBeenCalledTimes(101);
    expect(limitedTo).not.toHaveBeenCalled();
  });

  it("follow every change at the next use, and are made once for the same grants", async () => {
    const { views, grant, databasesOf, state, limitedTo } = harness();
    expect(await databasesOf("finance")).toEqual([]);
    grant("finance", "shop");
    expect(await databasesOf("finance")).toEqual(["shop"]);
    const before = await views.of("finance");
    grant("other", "ledger");
    expect(await databasesOf("finance")).toEqual(["shop"]);
    expect((await views.of("finance")).connections).toBe(before.connections);
    expect(limitedTo).toHaveBeenCalledTimes(2);
    state.grants = [];
    state.revision += 1;
    expect(await databasesOf("finance")).toEqual([]);
    expect((await views.of("finance")).key).not.toBe(before.key);
    state.projects.set("finance", { connections: "all" });
    state.revision += 1;
    expect((await views.of("finance")).key).toBe("");
  });

  it("are nothing in a project that does not exist", async () => {
    const { views, databasesOf, state } = harness();
    expect(await databasesOf("gone")).toEqual([]);
    expect((await views.of("gone")).key).not.toBe("");
    state.projects.delete("finance");
    state.revision += 1;
    expect(await databasesOf("finance")).toEqual([]);
  });

  it("have keys that differ between projects, grants and limits of keys", async () => {
    const { views, grant } = harness();
    grant("finance", "shop");
    grant("other", "shop");
    const keys = [
      (await views.of("finance")).key,
      (await views.of("other")).key,
      (await views.of("finance", { databases: [] })).key,
      (await views.of("default", { models: [] })).key,
      (await views.of("default", { databases: ["shop"] })).key,
    ];
    grant("finance", "shop", { role: "analyst" });
    keys.push((await views.of("finance")).key);
    grant("finance", "shop", { access: "read-only" });
    keys.push((await views.of("finance")).key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).not.toContain("");
  });

  it("never mix what was read before a change with the revision after it", async () => {
    const { views, projects, grant, databasesOf } = harness();
    projects.grants.mockImplementationOnce(() => {
      // Committed by another process between the two reads.
      grant("finance", "shop");
      return Promise.resolve([]);
    });
    await views.of("finance");
    expect(await databasesOf("finance")).toEqual(["shop"]);
  });
});
