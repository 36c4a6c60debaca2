import { z } from "zod";
import { ProjectIdRef, ProjectMember } from "../../schemas/project.ts";
import { Email, Role } from "../../schemas/user.ts";
import { beforeAndAfter } from "../../src/core/audit-change.ts";
import { iso } from "../../src/core/clock.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findWithMembers } from "./find-project.ts";
import { serializeMember } from "./serialize-project.ts";

export const setProjectMember = defineTool({
  name: "set_project_member",
  title: "Give a person a role in a project",
  description:
    "Gives a person a role in a project, in place of an earlier one; it applies from the next request on. The address need not " +
    "have an account yet: the role is there when the person signs in.",
  route: "PUT /projects/:project/members/:email",
  surfaces: ["rest"],
  scope: "admin",
  requiresUser: true,
  effect: "update",
  errors: ["project_not_found"],
  input: z.strictObject({ project: ProjectIdRef, email: Email, role: Role }),
  output: ProjectMember,
  run: ({ project: id, email, role }, ctx) =>
    ctx.write(async (tx) => {
      const project = await findWithMembers(ctx, tx.projects, id);
      const before = (await tx.projects.members(project.id)).find((member) => member.email === email);
      if (before?.role === role) return serializeMember(before);
      const member = {
        project: project.id,
        email,
        role,
        addedAt: iso(ctx.now()),
        addedBy: ctx.actor.principal.owner,
      };
      await tx.projects.saveMember(member);
      await tx.recordAudit(email, `role_${role}`, {
        project: project.id,
        details: beforeAndAfter({ role: before?.role }, { role }),
      });
      return serializeMember(member);
    }),
});
