import { z } from "zod";
import { ProjectIdRef, ProjectMember } from "../../schemas/project.ts";
import { Email } from "../../schemas/user.ts";
import { beforeAndAfter } from "../../src/core/audit-change.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findWithMembers } from "./find-project.ts";
import { serializeMember } from "./serialize-project.ts";

export const removeProjectMember = defineTool({
  name: "remove_project_member",
  title: "Remove a person from a project",
  description:
    "Takes a person's role in a project away; it applies from the next request on, also to their keys.",
  route: "DELETE /projects/:project/members/:email",
  surfaces: ["rest"],
  scope: "admin",
  requiresUser: true,
  effect: "delete",
  errors: ["project_not_found", "member_not_found"],
  input: z.strictObject({ project: ProjectIdRef, email: Email }),
  output: ProjectMember,
  run: ({ project: id, email }, ctx) =>
    ctx.write(async (tx) => {
      const project = await findWithMembers(ctx, tx.projects, id);
      const member = (await tx.projects.members(project.id)).find((one) => one.email === email);
      if (member === undefined)
        throw new AppError(
          "member_not_found",
          `${email} has no role in the project "${project.id}". list_project_members shows who has one.`,
        );
      await tx.projects.removeMember(project.id, email);
      await tx.recordAudit(email, undefined, {
        project: project.id,
        details: beforeAndAfter({ role: member.role }, { role: null }),
      });
      return serializeMember(member);
    }),
});
