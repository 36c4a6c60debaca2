import { describe, expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import { ROLE_SCOPES } from "../../schemas/user.ts";
import {
  type Access,
  accessEverywhere,
  accessOfKey,
  accessOfPerson,
  accessText,
  choosesProject,
  FULL_ACCESS,
  includesAccess,
  isAlwaysAllowed,
  isInstanceAdmin,
  isVisible,
  type KeyLimits,
  mayUseTool,
  NO_ACCESS,
  roleIn,
  type Roles,
  scopesIn,
  scopesOf,
  visibilityKey,
  visibilityOf,
} from "../../src/core/access.ts";
import { onlyRole, rolesIn } from "../support/callers.ts";

const inProjects = (
  projects: Readonly<Record<string, readonly Scope[]>>,
  keyLimits: KeyLimits | null = null,
): Access => ({
  everywhere: null,
  projects: new Map(Object.entries(projects).map(([id, scopes]) => [id, new Set(scopes)])),
  keyLimits,
});

/** What an access allows, by project; `*` for every project. */
const granted = ({ everywhere, projects }: Access) =>
  everywhere === null
    ? Object.fromEntries([...projects].map(([id, scopes]) => [id, [...scopes]]))
    : { "*": [...everywhere] };

describe("includesAccess", () => {
  const inBoth = inProjects({ default: ["read"], finance: ["read", "run"] });
  const ofAdmin = accessOfPerson(rolesIn("admin"));

  it.each<[string, Access, Access, boolean]>([
    ["the same access", inBoth, inBoth, true],
    [
      "more scopes and projects",
      inProjects({ default: ["read"], finance: ["read", "run"], hr: ["read"] }),
      inBoth,
      true,
    ],
    ["access everywhere", accessEverywhere(["read", "run"]), inBoth, true],
    [
      "fewer scopes in one project",
      inProjects({ default: ["read", "run"], finance: ["read"] }),
      inBoth,
      false,
    ],
    ["fewer projects", inProjects({ default: ["read", "run"] }), inBoth, false],
    ["no access", NO_ACCESS, inBoth, false],
    ["fewer scopes everywhere", accessEverywhere(["read"]), accessEverywhere(["read", "run"]), false],
    ["that of an admin", ofAdmin, ofAdmin, true],
    ["an admin who is an editor now", accessOfPerson(rolesIn("editor")), ofAdmin, false],
    ["an admin of the default project only", inProjects({ default: [...ROLE_SCOPES.admin] }), ofAdmin, false],
    [
      "the default project that was the only one",
      accessOfPerson(rolesIn("editor")),
      accessOfPerson(onlyRole("editor")),
      true,
    ],
    [
      "a lower role in the project that was the only one",
      accessOfPerson(rolesIn("viewer")),
      accessOfPerson(onlyRole("editor")),
      false,
    ],
  ])("says of %s whether it has all of the earlier one", (_what, now, before, expected) => {
    expect(includesAccess(now, before)).toBe(expected);
  });
});

describe("scopesIn and scopesOf", () => {
  it("scopesIn gives the scopes of that project only, and none in a project of others", () => {
    const access = inProjects({ default: ["read"], finance: ["read", "run"] });
    expect([...scopesIn(access, "finance")]).toEqual(["read", "run"]);
    expect([...scopesIn(access, "default")]).toEqual(["read"]);
    expect([...scopesIn(access, "hr")]).toEqual([]);
    expect([...scopesIn(accessEverywhere(["write"]), "hr")]).toEqual(["write"]);
  });

  it("scopesOf is the union over all projects", () => {
    expect([...scopesOf(inProjects({ default: ["read"], finance: ["read", "run"] }))]).toEqual([
      "read",
      "run",
    ]);
    expect([...scopesOf(accessEverywhere(["write"]))]).toEqual(["write"]);
    expect([...scopesOf(inProjects({}))]).toEqual([]);
  });
});

describe("NO_ACCESS and FULL_ACCESS", () => {
  it("NO_ACCESS allows nothing, and FULL_ACCESS every scope in every project", () => {
    expect(granted(NO_ACCESS)).toEqual({ "*": [] });
    expect(granted(FULL_ACCESS)).toEqual({ "*": ["read", "write", "publish", "run", "approve", "admin"] });
  });
});

describe("isInstanceAdmin", () => {
  it("is true with the scope admin in the default project only", () => {
    expect(isInstanceAdmin(FULL_ACCESS)).toBe(true);
    expect(isInstanceAdmin(inProjects({ default: ["admin"] }))).toBe(true);
    expect(isInstanceAdmin(inProjects({ finance: ["admin"] }))).toBe(false);
    expect(isInstanceAdmin(accessEverywhere(["write"]))).toBe(false);
  });
});

describe("roleIn", () => {
  it("is the highest role whose scopes the person has there", () => {
    const access = accessOfPerson(rolesIn("viewer", { finance: "editor", hr: "admin" }));
    expect(["default", "finance", "hr", "other"].map((id) => roleIn(access, id))).toEqual([
      "viewer",
      "editor",
      "admin",
      null,
    ]);
    expect(roleIn(inProjects({ default: ["write"] }), "default")).toBeNull();
  });

  it("of a key is that of its owner", () => {
    const key = accessOfKey(
      { scopes: ["read"], projects: ["default"], limits: null },
      onlyRole("admin"),
      true,
    );
    expect(roleIn(key, "default")).toBe("admin");
  });
});

const keyWithTools = (tools?: string[]) =>
  accessOfKey({ scopes: ["read"], projects: ["default"], limits: { tools } }, onlyRole("admin"), true);

describe("isAlwaysAllowed and mayUseTool", () => {
  it("isAlwaysAllowed is true for a key that describes itself, and nothing else", () => {
    expect(isAlwaysAllowed(keyWithTools(), "describe_key")).toBe(true);
    expect(isAlwaysAllowed(keyWithTools(), "list_runs")).toBe(false);
    expect(isAlwaysAllowed(accessOfPerson(onlyRole("admin")), "describe_key")).toBe(false);
  });

  it("mayUseTool refuses the tools that are not among those of a limited key", () => {
    expect(mayUseTool(keyWithTools(["list_runs"]), "list_runs")).toBe(true);
    expect(mayUseTool(keyWithTools(["list_runs"]), "get_run")).toBe(false);
    expect(mayUseTool(keyWithTools([]), "get_run")).toBe(false);
    expect(mayUseTool(keyWithTools([]), "describe_key")).toBe(true);
    expect(mayUseTool(keyWithTools(), "get_run")).toBe(true);
    expect(mayUseTool(FULL_ACCESS, "get_run")).toBe(true);
  });
});

describe("choosesProject", () => {
  it("is true for callers of several projects", () => {
    expect(choosesProject(inProjects({ default: ["read"] }))).toBe(false);
    expect(choosesProject(inProjects({ default: ["read"], finance: ["read"] }))).toBe(true);
    expect(choosesProject(FULL_ACCESS)).toBe(false);
    expect(choosesProject({ ...FULL_ACCESS, severalProjects: true })).toBe(true);
    expect(choosesProject({ ...inProjects({ default: ["read"] }), severalProjects: true })).toBe(false);
  });
});

describe("visibilityOf", () => {
  it.each<[string, Access, Scope, ReturnType<typeof visibilityOf>]>([
    ["everything with the scope everywhere", accessEverywhere(["read"]), "read", null],
    ["nothing without the scope", accessEverywhere(["read"]), "admin", { projects: [], workflows: null }],
    [
      "the projects with the scope, sorted",
      inProjects({ hr: ["read", "run"], default: ["read"], finance: ["run"] }),
      "run",
      { projects: ["finance", "hr"], workflows: null },
    ],
    [
      "the workflows of a limited key in every project",
      { ...accessEverywhere(["read"]), keyLimits: { workflows: ["w"] } },
      "read",
      { projects: null, workflows: ["w"] },
    ],
    [
      "nothing of a limited key without the scope",
      { ...accessEverywhere(["read"]), keyLimits: { workflows: ["w"] } },
      "run",
      { projects: [], workflows: ["w"] },
    ],
    [
      "the workflows of a limited key in its projects",
      inProjects({ default: ["read"] }, { workflows: [] }),
      "read",
      { projects: ["default"], workflows: [] },
    ],
    [
      "everything for a key that is limited to tools",
      { ...accessEverywhere(["read"]), keyLimits: { tools: [] } },
      "read",
      null,
    ],
  ])("is %s", (_what, access, scope, expected) => {
    expect(visibilityOf(access, scope)).toEqual(expected);
  });
});

describe("isVisible", () => {
  const all = { projects: null, workflows: null };
  const inDefault = { projects: ["default"], workflows: null };
  const onlyW = { projects: null, workflows: ["w"] };
  it.each<[string, Parameters<typeof isVisible>[0], Parameters<typeof isVisible>[1], boolean]>([
    ["everything, without limits", null, { project: "x", workflowId: null }, true],
    ["everything, where nothing is limited", all, { project: "x", workflowId: null }, true],
    ["what is in the project", inDefault, { project: "default", workflowId: "w" }, true],
    ["what is in the project and of no workflow", inDefault, { project: "default", workflowId: null }, true],
    ["not what is in another project", inDefault, { project: "finance", workflowId: "w" }, false],
    ["nothing, without any project", { projects: [], workflows: null }, { project: "default" }, false],
    ["what is of the workflow", onlyW, { project: "x", workflowId: "w" }, true],
    ["not what is of another workflow", onlyW, { project: "x", workflowId: "v" }, false],
    ["not what is of no workflow", onlyW, { project: "x", workflowId: null }, false],
    ["a project itself", onlyW, { project: "x" }, true],
    [
      "not the workflow in another project",
      { projects: ["default"], workflows: ["w"] },
      { project: "finance", workflowId: "w" },
      false,
    ],
  ])("finds %s", (_what, visibility, found, expected) => {
    expect(isVisible(visibility, found)).toBe(expected);
  });
});

describe("visibilityKey and accessText", () => {
  it("visibilityKey differs where two callers find different things", () => {
    const keys = [
      null,
      { projects: null, workflows: null },
      { projects: [], workflows: null },
      { projects: ["default"], workflows: null },
      { projects: ["default"], workflows: [] },
      { projects: ["default"], workflows: ["w"] },
    ].map(visibilityKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(visibilityKey({ projects: ["a"], workflows: ["w"] })).toBe(
      visibilityKey({ projects: ["a"], workflows: ["w"] }),
    );
  });

  it("accessText differs where two accesses do, and not by the order of their parts", () => {
    const accesses = [
      NO_ACCESS,
      FULL_ACCESS,
      accessEverywhere(["read"]),
      { ...accessEverywhere(["read"]), keyLimits: { workflows: ["w"] } },
      { ...accessEverywhere(["read"]), keyLimits: { workflows: ["v"] } },
      inProjects({}),
      inProjects({ default: ["read"] }),
      inProjects({ default: ["read", "run"] }),
      inProjects({ finance: ["read", "run"] }),
      inProjects({ default: ["read"], run: [] }),
    ].map(accessText);
    expect(new Set(accesses).size).toBe(accesses.length);
    expect(accessText(accessEverywhere(["run", "read"]))).toBe(accessText(accessEverywhere(["read", "run"])));
    expect(accessText(inProjects({ b: ["run", "read"], a: ["read"] }))).toBe(
      accessText(inProjects({ a: ["read"], b: ["read", "run"] })),
    );
  });
});

describe("accessOfPerson", () => {
  it.each<[string, Roles, Record<string, readonly string[]>]>([
    [
      "the role everywhere, in an installation with one project",
      onlyRole("editor"),
      { "*": ROLE_SCOPES.editor },
    ],
    [
      "everything everywhere for an admin",
      rolesIn("admin", { finance: "viewer" }),
      { "*": ROLE_SCOPES.admin },
    ],
    [
      "the role of each project",
      rolesIn("viewer", { finance: "admin" }),
      { default: ["read"], finance: ROLE_SCOPES.admin },
    ],
    ["nothing in the default project for a member", rolesIn("member", { hr: "viewer" }), { hr: ["read"] }],
    ["nothing for a member without roles", rolesIn("member"), {}],
  ])("is %s", (_what, roles, expected) => {
    expect(granted(accessOfPerson(roles))).toEqual(expected);
    expect(accessOfPerson(roles)).toMatchObject({ keyLimits: null });
  });

  it("says whether an admin has a choice of projects", () => {
    expect(choosesProject(accessOfPerson(rolesIn("admin")))).toBe(true);
    expect(choosesProject(accessOfPerson(onlyRole("admin")))).toBe(false);
  });
});

const key = (scopes: Scope[], projects: string[], limits: KeyLimits | null = null) => ({
  scopes,
  projects,
  limits,
});

describe("accessOfKey", () => {
  it.each<[string, Parameters<typeof accessOfKey>, Record<string, readonly string[]>]>([
    [
      "its scopes as far as the owner's role has them",
      [key(["read", "write", "admin"], ["default"]), onlyRole("editor"), true],
      { "*": ["read", "write"] },
    ],
    [
      "its scopes in its projects as far as the owner's role there has them",
      [
        key(["read", "run"], ["default", "finance", "hr"]),
        rolesIn("viewer", { finance: "editor", other: "admin" }),
        false,
      ],
      { default: ["read"], finance: ["read", "run"] },
    ],
    [
      "nothing in a project where the owner has no role any more",
      [key(["read"], ["hr"]), rolesIn("editor"), false],
      {},
    ],
    [
      "all of its scopes for a key of the operator",
      [key(["admin"], ["default", "hr"]), null, false],
      { default: ["admin"], hr: ["admin"] },
    ],
    [
      "its scopes for a key of the operator in an installation with one project",
      [key(["admin"], ["default"]), null, true],
      { "*": ["admin"] },
    ],
    [
      "nothing for a key of a deleted project only, in an installation that has only the default project",
      [key(["write"], ["gone"]), onlyRole("viewer"), true],
      {},
    ],
    [
      "only reading, running and approving for a key that is limited to workflows",
      [
        key(["read", "write", "publish", "run", "approve", "admin"], ["default"], { workflows: [] }),
        null,
        false,
      ],
      { default: ["read", "run", "approve"] },
    ],
    [
      "its scopes for a key that is limited to databases",
      [key(["write"], ["default"], { databases: [] }), null, false],
      { default: ["write"] },
    ],
  ])("is %s", (_what, args, expected) => {
    const access = accessOfKey(...args);
    expect(granted(access)).toEqual(expected);
    const [{ scopes, projects, limits }] = args;
    expect(access.keyLimits).toEqual(limits);
    expect(access.key).toMatchObject({ scopes, projects });
  });

  it("names the access of its owner", () => {
    const roles = rolesIn("viewer", { finance: "editor" });
    const { key: ofUser } = accessOfKey(key(["read"], ["default"]), roles, false);
    expect(ofUser?.owner).toEqual(accessOfPerson(roles));
    expect(accessOfKey(key(["read"], ["default"]), null, false).key?.owner).toBe(FULL_ACCESS);
  });
});
