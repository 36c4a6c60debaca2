/** Projects in tests, and callers who are limited to some. */
import { Scope } from "../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { Role } from "../../schemas/user.ts";
import { type Access, scopesOf } from "../../src/core/access.ts";
import { iso } from "../../src/core/clock.ts";
import type { Principal } from "../../src/core/ports.ts";
import type { ProjectRecord } from "../../src/core/project-ports.ts";
import type { TestInstance } from "./instance.ts";
import { keyPrincipal } from "./users.ts";

/** Creates a project that may use every connection, unless the fields say otherwise. */
export async function addProject(
  { write, clock }: Pick<TestInstance, "write" | "clock">,
  id: string,
  fields: Partial<ProjectRecord> = {},
): Promise<void> {
  const project: ProjectRecord = {
    id,
    name: id,
    description: "",
    connections: "all",
    httpPublic: null,
    review: false,
    backtest: null,
    limits: null,
    createdAt: iso(clock.now()),
    createdBy: "operator",
    ...fields,
  };
  await write(intent("create_project"), (tx) => tx.projects.insertUnlessTaken(project));
}

/** Gives a person a role in a project. */
export async function addMember(
  { write, clock }: Pick<TestInstance, "write" | "clock">,
  member: { project: string; email: string; role: Role },
): Promise<void> {
  await write(intent("set_project_member"), (tx) =>
    tx.projects.saveMember({ ...member, addedAt: iso(clock.now()), addedBy: "operator" }),
  );
}

const intent = (operation: string) => ({
  operation,
  actor: { principal: keyPrincipal(), client: { surface: "rest", name: "vitest" } as const },
  requestId: "req_project",
});

/** The principal of a key that belongs to these projects, with the same scopes in each: all but admin by default. */
export function memberOf(
  projects: readonly string[],
  {
    scopes = Scope.options.filter((scope) => scope !== "admin"),
    owner = `${projects[0] ?? "nobody"}@example.com`,
  }: {
    scopes?: readonly Scope[];
    owner?: string;
  } = {},
): Principal {
  const access: Access = {
    everywhere: null,
    projects: new Map(projects.map((project) => [project, new Set(scopes)])),
    keyLimits: null,
  };
  const lineage = `key_${projects.join("_") || DEFAULT_PROJECT}`;
  return { ...keyPrincipal(scopes, owner), keyId: lineage, lineage, scopes: scopesOf(access), access };
}
