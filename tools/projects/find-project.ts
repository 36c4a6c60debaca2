/** Finds projects for callers. The readers of a request find only those in which the caller can read. */
import type { Scope } from "../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { isInstanceAdmin, scopesIn } from "../../src/core/access.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { missingScope } from "../../src/core/scope-refusal.ts";
import type { ProjectReader, ProjectRecord } from "../../src/core/project-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { projectNotFound } from "./project-for.ts";

/** @throws AppError project_not_found */
export async function findProject(projects: Pick<ProjectReader, "find">, id: string): Promise<ProjectRecord> {
  const found = await projects.find(id);
  if (found === undefined) throw projectNotFound(id);
  return found;
}

/** Refuses a filter by a project that the caller can't read. @throws AppError project_not_found */
export async function assertProjectFilter(
  { read }: Pick<ToolContext, "read">,
  requested: string | undefined,
): Promise<void> {
  if (requested !== undefined) await findProject(read.projects, requested);
}

/** Finds a project that the caller administers. @throws AppError project_not_found, missing_scope */
export async function findAdministered(
  ctx: Pick<ToolContext, "actor">,
  projects: Pick<ProjectReader, "find">,
  id: string,
): Promise<ProjectRecord> {
  const project = await findProject(projects, id);
  const { access } = ctx.actor.principal;
  if (isInstanceAdmin(access) || scopesIn(access, project.id).has("admin")) return project;
  throw missingScope(ctx.actor.principal, {
    subject: "This",
    scope: "admin",
    project: project.id,
    path: "project",
  });
}

/** Finds a project whose members can be managed. @throws AppError project_not_found, missing_scope, invalid_input */
export async function findWithMembers(
  ctx: Pick<ToolContext, "actor">,
  projects: Pick<ProjectReader, "find">,
  id: string,
): Promise<ProjectRecord> {
  const project = await findAdministered(ctx, projects, id);
  if (project.id !== DEFAULT_PROJECT) return project;
  throw invalidInput([
    {
      path: "project",
      code: "not_allowed",
      message: "is the default project, where the role of a user is that of the account",
      fix: "Use list_users, invite_user and update_user.",
    },
  ]);
}

/** What a caller can do in a project. */
export const scopesOfCaller = ({ actor }: Pick<ToolContext, "actor">, project: string): Scope[] => [
  ...scopesIn(actor.principal.access, project),
];
