import { z } from "zod";
import { DEFAULT_PROJECT, Project, ProjectIdRef } from "../../schemas/project.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findProject } from "./find-project.ts";
import { serializeProject } from "./serialize-project.ts";

export const deleteProject = defineTool({
  name: "delete_project",
  title: "Delete a project",
  description:
    "Deletes a project without workflows and runs, with its members and grants; keys lose it. Move its workflows first " +
    "(move_workflow); its runs are purged when they are old.",
  route: "DELETE /projects/:project",
  mcpList: "admin",
  scope: "admin",
  instance: true,
  effect: "delete",
  errors: ["project_not_found", "project_not_empty"],
  input: z.strictObject({ project: ProjectIdRef }),
  output: Project,
  run: ({ project: id }, ctx) =>
    ctx.write(async (tx) => {
      const project = await findProject(tx.projects, id);
      if (project.id === DEFAULT_PROJECT)
        throw new AppError("project_not_empty", "The default project can't be deleted.");
      const { workflows, runs } = await tx.projects.contents(project.id);
      if (workflows + runs > 0)
        throw new AppError(
          "project_not_empty",
          `The project "${project.id}" has ${count(workflows, "workflow")} (archived ones included) and ${count(runs, "run")}, so it was not ` +
            "deleted. Move its workflows to another project (move_workflow); runs are purged when they are old (retention.runs).",
        );
      await tx.projects.remove(project.id);
      await tx.apiKeys.leaveProject(project.id);
      await tx.recordAudit(project.id, undefined, { project: project.id });
      return serializeProject(ctx, project);
    }),
});

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
