import type { Project, ProjectMember } from "../../schemas/project.ts";
import type { ProjectMember as MemberRecord, ProjectRecord } from "../../src/core/project-ports.ts";
import { roleIn } from "../../src/core/access.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { scopesOfCaller } from "./find-project.ts";

/** A project as the API returns it, with what the caller can do in it. */
export const serializeProject = (ctx: Pick<ToolContext, "actor">, project: ProjectRecord): Project => ({
  id: project.id,
  name: project.name,
  description: project.description,
  scopes: scopesOfCaller(ctx, project.id),
  role: roleIn(ctx.actor.principal.access, project.id),
  connections: project.connections,
  http_public: project.httpPublic,
  review: project.review,
  backtest: project.backtest,
  limits: { ...project.limits },
  created_at: project.createdAt,
  created_by: project.createdBy,
});

/** A member as the API returns it. */
export const serializeMember = ({ email, role, addedAt, addedBy }: MemberRecord): ProjectMember => ({
  email,
  role,
  added_at: addedAt,
  added_by: addedBy,
});
