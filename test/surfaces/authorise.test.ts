import { describe, expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import type { AppError } from "../../src/core/errors.ts";
import type { Principal } from "../../src/core/ports.ts";
import { authorise } from "../../src/surfaces/invoke.ts";
import { keyWith, onlyRole, personWith, rolesIn } from "../support/callers.ts";

type Tool = Parameters<typeof authorise>[0];
const tool = (scope: Scope, fields: Partial<Tool> = {}): Tool => ({ name: "get_run", scope, ...fields });

/** The error that the caller gets; undefined where it may use the operation. */
function refusalOf(principal: Principal, of: Tool, calledAs?: string): AppError | undefined {
  try {
    authorise(of, {
      actor: { principal, client: { surface: "rest", name: "vitest" } },
      ...(calledAs !== undefined && { calledAs }),
    });
    return undefined;
  } catch (error) {
    return error as AppError;
  }
}

const AS_ADMIN_IN_FINANCE = rolesIn("viewer", { finance: "admin" });
const limitedTo = (tools: string[]) => keyWith(onlyRole("admin"), ["read", "run"], { limits: { tools } });

describe("authorise", () => {
  it.each<[string, Principal, Tool, string | undefined]>([
    ["a caller with the scope", personWith(onlyRole("viewer")), tool("read"), undefined],
    ["a caller with the scope in any project", personWith(AS_ADMIN_IN_FINANCE), tool("admin"), undefined],
    [
      "a person, where only people may",
      personWith(onlyRole("viewer")),
      tool("read", { requiresUser: true }),
      undefined,
    ],
    [
      "a caller with the scope in the default project, for an operation on the instance",
      personWith(rolesIn("admin")),
      tool("admin", { instance: true }),
      undefined,
    ],
    ["a key with its tool", limitedTo(["get_run"]), tool("read"), undefined],
    ["a key that describes itself", limitedTo([]), tool("read", { name: "describe_key" }), undefined],
    [
      "a key without any scope that describes itself",
      keyWith(rolesIn("member"), ["read"]),
      tool("read", { name: "describe_key" }),
      undefined,
    ],
  ])("accepts %s", (_who, principal, of, expected) => {
    expect(refusalOf(principal, of)).toBe(expected);
  });

  it.each<[string, Principal, Tool, string]>([
    ["a caller without the scope", personWith(onlyRole("viewer")), tool("write"), "missing_scope"],
    [
      "an admin of another project, for an operation on the instance",
      personWith(AS_ADMIN_IN_FINANCE),
      tool("admin", { instance: true }),
      "missing_scope",
    ],
    [
      "a key, where only people may",
      keyWith(onlyRole("admin"), ["admin"]),
      tool("read", { requiresUser: true }),
      "person_needed",
    ],
    ["a key without the tool", limitedTo(["list_runs"]), tool("read"), "not_permitted"],
    ["a key that is limited to no tool", limitedTo([]), tool("read"), "not_permitted"],
    ["a key with the tool, without the scope", limitedTo(["get_run"]), tool("write"), "missing_scope"],
    ["a caller without any role", personWith(rolesIn("member")), tool("read"), "missing_scope"],
  ])("refuses %s", (_who, principal, of, code) => {
    expect(refusalOf(principal, of)?.code).toBe(code);
  });

  it("judges the tool of an exposed workflow by its own name", () => {
    const key = limitedTo(["send_report"]);
    expect(refusalOf(key, tool("run", { name: "run_workflow" }), "send_report")).toBeUndefined();
    expect(refusalOf(key, tool("run", { name: "run_workflow" }), "other")?.code).toBe("not_permitted");
    expect(refusalOf(key, tool("run", { name: "run_workflow" }))?.code).toBe("not_permitted");
  });

  it("tells a key without the tool which ones it has, and how to get another key", () => {
    const error = refusalOf(limitedTo(["list_runs", "get_workflow"]), tool("read"))!;
    expect(error.message).toBe(
      "This key is limited to list_runs, get_workflow, so it can't use get_run. Use another key, or " +
        "ask ann@example.com or the operator for one: millrace keys create --name <name> --tool get_run --scope read",
    );
    expect(error.details).toEqual({
      errors: [
        {
          path: "",
          code: "not_permitted",
          message: "is not one of the key's tools",
          allowed: ["list_runs", "get_workflow"],
        },
      ],
    });
    const inFinance = keyWith(rolesIn("viewer", { finance: "admin" }), ["read"], {
      projects: ["finance"],
      limits: { tools: [] },
    });
    expect(refusalOf(inFinance, tool("read"))?.message).toContain("--project <project>");
    expect(refusalOf(inFinance, tool("read", { instance: true }))?.message).not.toContain("--project");
  });

  it("tells a caller without any scope so, and where the scope is needed", () => {
    const nobody = personWith(rolesIn("member"));
    expect(refusalOf(nobody, tool("read"))?.message).toContain("has no role in any project");
    expect(refusalOf(nobody, tool("read"))?.message).toContain("the role viewer in a project.");
    expect(refusalOf(nobody, tool("read", { instance: true }))?.message).toContain(
      'the role viewer in the project "default".',
    );
  });

  it("names the project for an operation on the instance, and none for others", () => {
    const viewer = personWith(rolesIn("viewer", { finance: "viewer" }));
    expect(refusalOf(viewer, tool("admin", { instance: true }))?.message).toContain(
      'in the project "default"',
    );
    expect(refusalOf(viewer, tool("admin"))?.message).toContain("in one of its projects");
  });

  it("tells a key that can't publish what becomes of its drafts, and no person", () => {
    const hint = "What you have saved is a draft: ask a person to publish it.";
    expect(refusalOf(keyWith(onlyRole("admin"), ["write"]), tool("publish"))?.message).toContain(hint);
    expect(refusalOf(keyWith(onlyRole("admin"), ["read"]), tool("write"))?.message).not.toContain(hint);
    expect(refusalOf(personWith(onlyRole("viewer")), tool("publish"))?.message).not.toContain(hint);
  });
});
