import { z } from "zod";
import { GrantKind, GrantName, ProjectIdRef, SavedGrant } from "../../schemas/project.ts";
import { text } from "../../schemas/text.ts";
import { iso } from "../../src/core/clock.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findProject } from "./find-project.ts";
import { grantIssues } from "./grant-issues.ts";
import { toolWarnings } from "./tool-warnings.ts";
import { grantTarget, serializeGrant } from "./serialize-grant.ts";

export const addGrant = defineTool({
  name: "add_grant",
  title: "Grant a connection",
  description:
    "Grants a database, model, MCP server, secret, host, mail domain or chat of the configuration to a project, in place of an " +
    "earlier grant of it. It applies from the next step on, where the project may use only what it is granted. Tools that the " +
    "MCP server does not list are granted with a warning.",
  route: "PUT /projects/:project/grants/:kind/:name",
  mcpList: "admin",
  scope: "admin",
  instance: true,
  effect: "update",
  openWorld: true,
  errors: ["project_not_found"],
  input: z.strictObject({
    project: ProjectIdRef,
    kind: GrantKind,
    name: GrantName,
    access: z.literal("read-only").optional().meta({
      description: "For a database: refuses statements that write.",
      example: "read-only",
    }),
    role: text(63, 1).optional().meta({
      description: "For a database: the name of one of its roles in the configuration, to connect as.",
      example: "finance",
    }),
    tools: z
      .array(text(200, 1))
      .max(200)
      .optional()
      .meta({
        description: "For an MCP server: the only tools that may be called.",
        example: ["find_customer"],
      }),
  }),
  example: {},
  output: SavedGrant,
  async run({ project: id, kind, name, access, role, tools }, ctx) {
    const { configured } = ctx.engine;
    const found = await findProject(ctx.read.projects, id);
    const issues = await grantIssues({ kind, name, access, role, tools }, configured, found);
    if (issues.length > 0) throw invalidInput(issues);
    // Asked before the transaction, because another server answers.
    const warnings = kind === "mcp_server" ? await toolWarnings(ctx, name, tools ?? []) : [];
    const options = {
      ...(access !== undefined && { access }),
      ...(role !== undefined && { role }),
      ...(tools !== undefined && { tools }),
    };
    return ctx.write(async (tx) => {
      const project = await findProject(tx.projects, id);
      const grant = {
        project: project.id,
        kind,
        name,
        options: Object.keys(options).length === 0 ? null : options,
        grantedAt: iso(ctx.now()),
        grantedBy: ctx.actor.principal.owner,
      };
      await tx.projects.saveGrant(grant);
      await tx.recordAudit(grantTarget(grant), undefined, { project: project.id });
      return { ...serializeGrant(grant), ...(warnings.length > 0 && { warnings }) };
    });
  },
});
