/** The project that a request is about, where it names none of its things. */
import type { Scope } from "../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { scopesIn } from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { missingScope } from "../../src/core/scope-refusal.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/**
 * The project in which something is created, or that is described: the requested one, else the only one in which the caller
 * has the scope, else the default one.
 * @throws AppError project_not_found, missing_scope; invalid_input when the caller must choose one
 */
export async function projectFor(
  ctx: Pick<ToolContext, "actor" | "read">,
  scope: Scope,
  requested: string | undefined,
): Promise<string> {
  const { access } = ctx.actor.principal;
  if (requested !== undefined) {
    if ((await ctx.read.projects.find(requested)) === undefined) throw projectNotFound(requested);
    if (scopesIn(access, requested).has(scope)) return requested;
    throw missingScope(ctx.actor.principal, { subject: "This", scope, project: requested, path: "project" });
  }
  if (scopesIn(access, DEFAULT_PROJECT).has(scope)) return DEFAULT_PROJECT;
  const projects = [...access.projects].filter(([, scopes]) => scopes.has(scope)).map(([id]) => id);
  if (projects.length === 1) return projects[0]!;
  if (projects.length === 0)
    throw missingScope(ctx.actor.principal, { subject: "This", scope, project: null });
  throw invalidInput([
    {
      path: "project",
      code: "required",
      message: "is required, because this key or role has several projects",
      allowed: projects.toSorted(),
      fix: `Set it to the project that is meant, such as "${projects[0]}".`,
    },
  ]);
}

export const projectNotFound = (id: string): AppError =>
  new AppError(
    "project_not_found",
    `There is no project "${id.slice(0, 100)}" that this key or role can see. list_projects (GET /projects) lists them.`,
    { errors: [{ path: "project", code: "not_found", message: "is not the id of a project" }] },
  );
