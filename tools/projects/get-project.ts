import { z } from "zod";
import { Project, ProjectIdRef } from "../../schemas/project.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findProject } from "./find-project.ts";
import { serializeProject } from "./serialize-project.ts";

export const getProject = defineTool({
  name: "get_project",
  title: "Get a project",
  description: "Returns a project, with what you can do in it.",
  route: "GET /projects/:project",
  mcpList: "admin",
  scope: "read",
  effect: "read",
  errors: ["project_not_found"],
  input: z.strictObject({ project: ProjectIdRef }),
  output: Project,
  run: async ({ project }, ctx) => serializeProject(ctx, await findProject(ctx.read.projects, project)),
});
