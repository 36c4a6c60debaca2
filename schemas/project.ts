/** Projects: who owns workflows and runs, and what these may use. */
import { z } from "zod";
import { BacktestRule } from "./backtest-rule.ts";
import { Scope } from "./actor.ts";
import { Issue } from "./problem.ts";
import { DEFAULT_PROJECT } from "./project-ids.ts";
import { timestamp, visible } from "./text.ts";
import { Role } from "./user.ts";

export { DEFAULT_PROJECT, EVERY_PROJECT, projectOf } from "./project-ids.ts";

/** The id of a new project, and the beginning of the ids of its workflows. */
export const PROJECT_ID = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

/** How much of a wrong id a message repeats, in characters. */
const MAX_SHOWN = 60;

/** An id in a request. Any text is accepted, so that a wrong one is reported as not found. */
export const ProjectIdRef = z.string().min(1).max(200).meta({
  description: "The project's id, from list_projects.",
  example: "finance",
});

/** The project that a request is about, where a caller may have several. */
export const ProjectInput = z.string().min(1).max(200).optional().meta({
  description: "Which project.",
  example: "finance",
});

/** A filter of lists. */
export const ProjectFilter = ProjectIdRef.optional().meta({
  description: "Only of this project.",
  example: "finance",
});

/** The project that something belongs to, in outputs: left out for the default one. */
export const ProjectField = z.string().optional().meta({
  description: "The project that it belongs to; left out for the default one.",
  example: "finance",
});

/** `project` as outputs show it. @returns the field, or nothing for the default project */
export const projectField = (project: string): { project?: string } =>
  project === DEFAULT_PROJECT ? {} : { project };

/** What the ids of new workflows of a project begin with. */
export const workflowIdPrefix = (project: string): string =>
  project === DEFAULT_PROJECT ? "" : `${project}.`;

export const HttpPublic = z.enum(["none", "list", "any"]).meta({
  description:
    "Which public hosts http steps may reach: none, those of a list, or any. Private hosts need a permission of their own.",
  example: "list",
});
export type HttpPublic = z.infer<typeof HttpPublic>;

export const GrantKind = z.enum(["database", "model", "mcp_server", "secret", "host", "mail", "chat"]).meta({
  description: "What is granted.",
  example: "database",
});
export type GrantKind = z.infer<typeof GrantKind>;

export const ProjectId = z
  .string()
  .regex(PROJECT_ID, {
    error: ({ input }) =>
      `must have 1 to 40 lower-case letters, digits and dashes, and begin and end with a letter or digit, such as finance-eu; got ${String(input).slice(0, MAX_SHOWN)}`,
  })
  .meta({
    description:
      "Lower-case letters, digits and dashes, at most 40; left out, a slug of the name. The ids of new workflows begin with it.",
    example: "finance",
  });

export const ProjectName = visible("line", 100, 1).meta({
  description: "The name that people see.",
  example: "Finance",
});

export const ProjectDescription = visible("lines", 2_000).meta({
  description: "What it is for.",
  example: "Reports of the finance team.",
});

export const ProjectConnections = z.enum(["all", "granted"]).meta({
  description:
    "Which databases, models, MCP servers, secrets, hosts, mail domains and chats it may use: all, or those that are granted.",
  example: "granted",
});

/** A limit in a request. */
const limit = (description: string) =>
  z.int().min(1).max(1_000_000_000_000).nullable().optional().meta({ description, example: 1_000 });

/** The same limits as `limits.per_key` of the configuration, for all runs of a project together. */
export const ProjectLimits = z
  .strictObject({
    runs_per_hour: limit("Its runs that start in an hour (UTC)."),
    unfinished_runs: limit("Its unfinished runs at a time."),
    model_tokens_per_day: limit("Model tokens that its runs use in a day (UTC)."),
    rows_per_day: limit("Rows that databases return to its runs in a day (UTC)."),
    stored_bytes: limit("Bytes that its runs and workflows store."),
    mails_per_hour: limit("Mails that it sends in an hour (UTC), one for each address."),
    mails_to_address_per_hour: limit("Of these, mails to one address."),
  })
  .meta({
    description: "Maxima for the whole project. One that is left out keeps its value; null removes it.",
    example: { runs_per_hour: 1_000 },
  });
export type ProjectLimits = z.infer<typeof ProjectLimits>;

export const Project = z
  .strictObject({
    id: z.string().meta({ example: "finance" }),
    name: z.string().meta({ example: "Finance" }),
    description: z.string().meta({ example: "Reports of the finance team." }),
    scopes: z.array(Scope).meta({ description: "What you can do in it.", example: ["read", "run"] }),
    role: Role.nullable().meta({
      description:
        "Your role in it, which of a key is that of its owner; null for none. An admin of the instance is admin in each.",
      example: "editor",
    }),
    connections: ProjectConnections,
    http_public: HttpPublic.nullable().meta({
      description: "Which public hosts http steps may reach; null: as the configuration says.",
      example: null,
    }),
    review: z.boolean().meta({
      description: "Whether publishing needs the review of another person.",
      example: false,
    }),
    backtest: BacktestRule.nullable().meta({
      description: "The backtest that publishing needs; null for none.",
      example: null,
    }),
    limits: z
      .record(z.string(), z.int())
      .meta({ description: "Limits of the whole project.", example: { runs_per_hour: 1_000 } }),
    created_at: timestamp,
    created_by: z.string().meta({ example: "ann@example.com" }),
  })
  .meta({ id: "Project", description: "A project: who may do what, with which connections." });
export type Project = z.infer<typeof Project>;

export const UpdatedProject = Project.extend({
  warnings: z.array(Issue).optional().meta({
    description: "What the change affects: with review, published workflows can't run drafts any more.",
  }),
}).meta({ id: "UpdatedProject", description: "A project after a change." });

export type UpdatedProject = z.infer<typeof UpdatedProject>;

export const ProjectMember = z
  .strictObject({
    email: z
      .string()
      .meta({ description: "There need not be an account with this address.", example: "ann@example.com" }),
    role: Role,
    added_at: timestamp,
    added_by: z.string().meta({ example: "ada@example.com" }),
  })
  .meta({ id: "ProjectMember", description: "A person with a role in a project." });
export type ProjectMember = z.infer<typeof ProjectMember>;

export const GrantName = z.string().min(1).max(255).meta({
  description: "Its name in the configuration; a host as in http.allowed_hosts, or a mail domain.",
  example: "warehouse",
});

export const Grant = z
  .strictObject({
    kind: GrantKind,
    name: GrantName,
    access: z.literal("read-only").optional().meta({
      description: "Of a database: statements that write are refused.",
      example: "read-only",
    }),
    role: z
      .string()
      .optional()
      .meta({ description: "Of a database: the role that statements connect as.", example: "finance" }),
    tools: z
      .array(z.string())
      .optional()
      .meta({
        description: "Of an MCP server: the only tools that may be called.",
        example: ["find_customer"],
      }),
    granted_at: timestamp,
    granted_by: z.string().meta({ example: "ann@example.com" }),
  })
  .meta({ id: "Grant", description: "Something of the configuration that a project may use." });
export type Grant = z.infer<typeof Grant>;

/** A grant as it is saved, with what may be wrong with it. */
export const SavedGrant = Grant.extend({
  warnings: z
    .array(Issue.omit({ patch: true, line: true, column: true }))
    .optional()
    .meta({
      description:
        "What may be wrong, and prevents nothing: names of tools that the MCP server does not list now. Left out if there is none.",
    }),
}).meta({ id: "SavedGrant", description: "A grant, with warnings." });
export type SavedGrant = z.infer<typeof SavedGrant>;
