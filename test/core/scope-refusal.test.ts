import { describe, expect, it } from "vitest";
import type { AppError } from "../../src/core/errors.ts";
import { keyAdvice, missingScope, type NeededScope, nothingAllowed } from "../../src/core/scope-refusal.ts";
import type { Principal } from "../../src/core/ports.ts";
import { keyWith, onlyRole, personWith, rolesIn } from "../support/callers.ts";

const READ = ["read"] as const;
const WRITE_IN_DEFAULT: NeededScope = { scope: "write", project: "default" };
const WRITE_IN_FINANCE: NeededScope = { scope: "write", project: "finance" };
const WRITE_ANYWHERE: NeededScope = { scope: "write", project: null };
const FROM_OPERATOR = "ask the operator for one: millrace keys create --name <name> --scope write";
const FROM_ANN =
  "ask ann@example.com or the operator for one: millrace keys create --name <name> --scope write";
const LACK_IT = "Other keys of ann@example.com lack it too, because of the owner's role.";

const messageFor = (principal: Principal, needed: NeededScope): string =>
  missingScope(principal, { subject: "save", ...needed }).message;

describe("missingScope", () => {
  it.each<[string, Principal, NeededScope, string]>([
    [
      "a person of an installation with one project",
      personWith(onlyRole("viewer")),
      WRITE_ANYWHERE,
      'save needs the scope "write", which the role of ann@example.com does not grant. Ask an admin to give ann@example.com the role editor.',
    ],
    [
      "a person who needs the scope admin",
      personWith(onlyRole("editor")),
      { scope: "admin", project: "default" },
      'save needs the scope "admin", which the role of ann@example.com does not grant. Ask an admin to give ann@example.com the role admin.',
    ],
    [
      "a person of several projects, in one of them",
      personWith(rolesIn("viewer", { finance: "viewer" })),
      WRITE_IN_FINANCE,
      'save needs the scope "write" in the project "finance", which the role of ann@example.com does not grant. ' +
        'Ask an admin to give ann@example.com the role editor in the project "finance".',
    ],
    [
      "a person of several projects, in any of them",
      personWith(rolesIn("viewer", { finance: "viewer" })),
      WRITE_ANYWHERE,
      'save needs the scope "write" in one of its projects, which the role of ann@example.com does not grant. ' +
        "Ask an admin to give ann@example.com the role editor in one of its projects.",
    ],
    [
      "a person of one of several projects",
      personWith(rolesIn("member", { finance: "viewer" })),
      WRITE_ANYWHERE,
      'save needs the scope "write" in its project, which the role of ann@example.com does not grant. ' +
        "Ask an admin to give ann@example.com the role editor in its project.",
    ],
    [
      "a key whose owner has the scope",
      keyWith(onlyRole("editor"), READ),
      WRITE_ANYWHERE,
      `save needs the scope "write", which this key does not have (it has read). Use another key, or ${FROM_ANN}`,
    ],
    [
      "a key without any scope that is left",
      keyWith(rolesIn("editor"), ["admin"]),
      WRITE_IN_DEFAULT,
      `save needs the scope "write" in the project "default", which this key does not have. Use another key, or ${FROM_ANN}`,
    ],
    [
      "a key that has other scopes in other projects",
      keyWith(rolesIn("editor", { finance: "editor" }), ["read", "run"], { projects: ["finance"] }),
      WRITE_IN_DEFAULT,
      `save needs the scope "write" in the project "default", which this key does not have. Use another key, or ${FROM_ANN}`,
    ],
    [
      "a key in a project where its owner has another role",
      keyWith(rolesIn("editor", { finance: "viewer" }), READ, { projects: ["default", "finance"] }),
      WRITE_IN_FINANCE,
      'save needs the scope "write" in the project "finance", which this key does not have (it has read). ' +
        `${LACK_IT} Use a key of somebody else, or ${FROM_OPERATOR} --project finance`,
    ],
    [
      "a key of several projects, in any of which its owner has the scope",
      keyWith(rolesIn("viewer", { finance: "editor" }), READ, { projects: ["default", "finance"] }),
      WRITE_ANYWHERE,
      'save needs the scope "write" in one of its projects, which this key does not have (it has read). ' +
        `Use another key, or ${FROM_ANN} --project <project>`,
    ],
    [
      "a key whose owner has the scope in another project only",
      keyWith(rolesIn("viewer", { finance: "editor" }), READ),
      WRITE_ANYWHERE,
      'save needs the scope "write" in its project, which this key does not have (it has read). ' +
        `${LACK_IT} Use a key of somebody else, or ${FROM_OPERATOR}`,
    ],
    [
      "a key that has the scope, and its owner has not",
      keyWith(onlyRole("viewer"), ["read", "write"]),
      WRITE_ANYWHERE,
      'save needs the scope "write", which this key has, but the role of its owner ann@example.com does not grant. ' +
        `Ask an admin to give ann@example.com the role editor. Or use a key of somebody else: ${FROM_OPERATOR}`,
    ],
    [
      "a key of two projects that has the scope, and its owner has not in one of them",
      keyWith(rolesIn("editor", { finance: "viewer" }), ["write"], { projects: ["default", "finance"] }),
      WRITE_IN_FINANCE,
      'save needs the scope "write" in the project "finance", which this key has, but the role of its owner ann@example.com does not grant. ' +
        'Ask an admin to give ann@example.com the role editor in the project "finance". ' +
        `Or use a key of somebody else: ${FROM_OPERATOR} --project finance`,
    ],
    [
      "a key that has the scope, but in another project",
      keyWith(rolesIn("editor", { finance: "editor" }), ["write"]),
      WRITE_IN_FINANCE,
      'save needs the scope "write" in the project "finance", which this key does not have. ' +
        `Use another key, or ${FROM_ANN} --project finance`,
    ],
    [
      "a key that is limited to workflows",
      keyWith(onlyRole("editor"), ["read", "write"], { limits: { workflows: [] } }),
      WRITE_ANYWHERE,
      `save needs the scope "write", which a key that is limited to workflows can't have. Use another key, or ${FROM_ANN}`,
    ],
    [
      "a key that is limited to workflows, and lacks a scope that it could have",
      keyWith(onlyRole("editor"), READ, { limits: { workflows: [] } }),
      { scope: "run", project: null },
      'save needs the scope "run", which this key does not have (it has read). Use another key, or ' +
        "ask ann@example.com or the operator for one: millrace keys create --name <name> --scope run",
    ],
    [
      "a key that is limited to workflows and has a scope that its owner has not",
      keyWith(onlyRole("viewer"), ["run"], { limits: { workflows: [] } }),
      { scope: "run", project: null },
      'save needs the scope "run", which this key has, but the role of its owner ann@example.com does not grant. ' +
        "Ask an admin to give ann@example.com the role editor. Or use a key of somebody else: " +
        "ask the operator for one: millrace keys create --name <name> --scope run",
    ],
    [
      "a key that is limited to databases and has the scope that its owner has not",
      keyWith(onlyRole("viewer"), ["write"], { limits: { databases: [] } }),
      WRITE_ANYWHERE,
      'save needs the scope "write", which this key has, but the role of its owner ann@example.com does not grant. ' +
        `Ask an admin to give ann@example.com the role editor. Or use a key of somebody else: ${FROM_OPERATOR}`,
    ],
    [
      "a key of the operator",
      keyWith(null, READ),
      WRITE_IN_DEFAULT,
      `save needs the scope "write" in the project "default", which this key does not have (it has read). Use another key, or ${FROM_OPERATOR}`,
    ],
    [
      "a key of the operator whose record names no owner",
      { ...personWith(onlyRole("viewer")), kind: "key", owner: "operator" },
      WRITE_ANYWHERE,
      `save needs the scope "write", which this key does not have (it has read). Use another key, or ${FROM_OPERATOR}`,
    ],
    [
      "an application that can be allowed more",
      { ...keyWith(onlyRole("editor"), READ), application: true },
      WRITE_ANYWHERE,
      'save needs the scope "write", which this key does not have (it has read). Connect this application again, and allow it that scope.',
    ],
    [
      "an application whose owner may not",
      { ...keyWith(onlyRole("viewer"), READ), application: true },
      WRITE_ANYWHERE,
      'save needs the scope "write", which this key does not have (it has read). ' +
        `${LACK_IT} Use a key of somebody else, or ${FROM_OPERATOR}`,
    ],
    [
      "an application that has the scope in one project, where its owner has it in another",
      {
        ...keyWith(rolesIn("viewer", { finance: "editor" }), ["read", "write"], { projects: ["default"] }),
        application: true,
      },
      WRITE_IN_DEFAULT,
      'save needs the scope "write" in the project "default", which this key has, but the role of its owner ann@example.com does not grant. ' +
        `Ask an admin to give ann@example.com the role editor in the project "default". Or use a key of somebody else: ${FROM_OPERATOR}`,
    ],
  ])("tells %s what to do", (_who, principal, needed, expected) => {
    expect(messageFor(principal, needed)).toBe(expected);
  });

  it("says what the caller can do instead, and which field needs the scope", () => {
    const error = missingScope(personWith(onlyRole("viewer")), {
      subject: "save",
      instead: "Ask Ben.",
      path: "patch",
      ...WRITE_ANYWHERE,
    });
    expect(error.message).toContain("does not grant. Ask Ben. Ask an admin to give");
    expect(error.details).toEqual({
      errors: [
        { path: "patch", code: "missing_scope", message: "needs the scope write", allowed: ["write"] },
      ],
    });
    const whole = missingScope(personWith(onlyRole("viewer")), { subject: "save", ...WRITE_ANYWHERE });
    expect(whole.details).toMatchObject({ errors: [{ path: "" }] });
  });
});

describe("nothingAllowed", () => {
  it.each<[string, Principal, NeededScope, string]>([
    [
      "a person without a role",
      personWith(rolesIn("member")),
      { scope: "read", project: null },
      "ann@example.com has no role in any project, and so sees nothing. Ask an admin to give ann@example.com the role viewer in a project.",
    ],
    [
      "a person without a role, in a project",
      personWith(rolesIn("member")),
      WRITE_IN_DEFAULT,
      "ann@example.com has no role in any project, and so sees nothing. " +
        'Ask an admin to give ann@example.com the role editor in the project "default".',
    ],
    [
      "a key of a person",
      keyWith(rolesIn("member"), READ),
      WRITE_ANYWHERE,
      "This key can do nothing now: its owner ann@example.com has no role in its projects any more, or these were deleted. " +
        `${LACK_IT} Use a key of somebody else, or ${FROM_OPERATOR}`,
    ],
    [
      "a key of the operator",
      keyWith(null, [], { projects: ["gone"] }),
      WRITE_ANYWHERE,
      `This key can do nothing now: its projects were deleted. Use another key, or ${FROM_OPERATOR} --project <project>`,
    ],
  ])("tells %s why", (_who, principal, needed, expected) => {
    const error: AppError = nothingAllowed(principal, needed);
    expect(error.message).toBe(expected);
    expect(error.details).toEqual({
      errors: [
        {
          path: "",
          code: "missing_scope",
          message: `needs the scope ${needed.scope}`,
          allowed: [needed.scope],
        },
      ],
    });
  });
});

describe("keyAdvice", () => {
  it("names the owner only where the owner could create such a key, and further options", () => {
    expect(keyAdvice(keyWith(onlyRole("viewer"), READ), WRITE_ANYWHERE, " --tool save")).toBe(
      "ask the operator for one: millrace keys create --name <name> --tool save --scope write",
    );
    expect(keyAdvice(keyWith(onlyRole("editor"), READ), WRITE_ANYWHERE)).toBe(FROM_ANN);
    expect(keyAdvice(keyWith(null, READ), WRITE_ANYWHERE)).toBe(FROM_OPERATOR);
    expect(keyAdvice(personWith(onlyRole("editor")), WRITE_ANYWHERE)).toBe(FROM_OPERATOR);
  });
});
