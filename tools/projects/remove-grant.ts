import { z } from "zod";
import { Grant, GrantKind, GrantName, ProjectIdRef } from "../../schemas/project.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findProject } from "./find-project.ts";
import { grantTarget, serializeGrant } from "./serialize-grant.ts";

export const removeGrant = defineTool({
  name: "remove_grant",
  title: "Revoke a grant",
  description:
    "Revokes the grant of a connection. It applies from the next step on: runs that need the connection then fail.",
  route: "DELETE /projects/:project/grants/:kind/:name",
  mcpList: "admin",
  scope: "admin",
  instance: true,
  effect: "delete",
  errors: ["project_not_found", "grant_not_found"],
  input: z.strictObject({ project: ProjectIdRef, kind: GrantKind, name: GrantName }),
  output: Grant,
  run: ({ project: id, kind, name }, ctx) =>
    ctx.write(async (tx) => {
      const project = await findProject(tx.projects, id);
      const grant = (await tx.projects.grants(project.id)).find(
        (one) => one.kind === kind && one.name === name,
      );
      if (grant === undefined || !(await tx.projects.removeGrant(grant)))
        throw new AppError(
          "grant_not_found",
          `The project "${project.id}" has no grant of the ${kind} "${name.slice(0, 100)}". list_grants shows its grants.`,
        );
      await tx.recordAudit(grantTarget(grant), undefined, { project: project.id });
      return serializeGrant(grant);
    }),
});
