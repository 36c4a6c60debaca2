/** The configuration file. Secrets never stand in it: it names the environment variables that hold them. */
import { z } from "zod";
import { Role } from "./user.ts";
import { Duration } from "./workflow-definition.ts";

const Name = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/)
  .meta({ description: "What workflows call it: a letter, then letters, digits, _ or -.", example: "shop" });

/** A name, `*.` and a name, or an address (IPv6 in brackets), with a port or without. */
const HOST =
  /^(?:(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,250}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$/;

/** The message never repeats the value: somebody may have put the secret itself here. */
const VariableName = (what: string) =>
  z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, {
      error: "must be the NAME of an environment variable, not the secret itself",
    })
    .meta({ description: `The NAME of the environment variable with ${what}.` });

const Host = z.string().regex(HOST, {
  error:
    "must be a host such as hooks.example.com, *.example.com, 10.0.0.5:8080 or [::1], without scheme and path",
});

const Port = z.int().min(1).max(65_535);

const DATABASE_TYPES = ["sqlite", "duckdb", "postgresql", "mysql", "mariadb"] as const;
const MODEL_VENDORS = ["openai", "anthropic", "google", "mistral", "openai-compatible"] as const;

const Database = z.strictObject({
  name: Name,
  type: z.enum(DATABASE_TYPES).meta({ description: "What kind of database it is." }),
  dataset: z.string().min(1).meta({
    description:
      "A file path for sqlite and duckdb (relative to this file); a URL without the password for servers.",
  }),
  access: z
    .enum(["read-only", "read-write"])
    .default("read-only")
    .meta({ description: "Whether workflows may write to it." }),
  password_var: VariableName("the password, for server databases").optional(),
  concurrency: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: "The most statements at a time, over all executors; no limit when left out." }),
});

const Model = z.strictObject({
  name: Name,
  vendor: z.enum(MODEL_VENDORS).meta({ description: "Who serves it." }),
  model_ref: z.string().min(1).meta({ description: "The vendor's own name of the model." }),
  key_var: VariableName("the vendor's API key").optional(),
  base_url: z.url().optional().meta({ description: "Where it is served; needed for openai-compatible." }),
  prices: z
    .strictObject({
      input: z.number().min(0).meta({ description: "Per million input tokens." }),
      output: z.number().min(0).meta({ description: "Per million output tokens." }),
    })
    .optional()
    .meta({ description: "To work out what a call cost." }),
  concurrency: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: "The most calls at a time, over all executors; no limit when left out." }),
});

const McpServer = z.strictObject({
  name: Name,
  command: z
    .string()
    .min(1)
    .optional()
    .meta({ description: "A program to start that speaks MCP over stdio." }),
  args: z.array(z.string()).optional().meta({ description: "Its arguments." }),
  url: z.url().optional().meta({ description: "Or where a server is reached over Streamable HTTP." }),
  key_var: VariableName(
    "the key: sent as Authorization: Bearer to a url, handed to a command under the same name",
  ).optional(),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), VariableName("its value"))
    .optional()
    .meta({
      description:
        "Variables that a command gets, each with the NAME of ours that holds its value; of the rest it gets only PATH, HOME and the like.",
    }),
  concurrency: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: "How many calls at a time, over all executors; no limit when left out." }),
});

const Secret = z.strictObject({
  name: Name,
  key_var: VariableName("the secret"),
  hosts: z.array(Host).min(1).meta({
    description:
      "The only hosts that it may be sent to, with a port or for all ports; *.example.com is any name below.",
  }),
});

const Smtp = z.strictObject({
  smtp_user: z.string().min(1),
  smtp_password_var: VariableName("the mail password"),
  smtp_server: z.string().min(1),
  smtp_port: Port,
  secure: z.enum(["tls", "starttls", "plain"]).optional().meta({
    description:
      "tls: encrypted from the start; starttls: encrypted before anything is said; plain: not encrypted. Left out: tls on port 465, else starttls, on this machine only where it is offered.",
  }),
});

const SignOn = z
  .strictObject({
    groups: z
      .record(z.string().min(1).max(256), Role)
      .default({ "millrace-admin": "admin", "millrace-editor": "editor", "millrace-viewer": "viewer" })
      .meta({
        description:
          "The role that a group at the identity provider gives; of several the most powerful counts.",
      }),
    groups_claim: z.string().min(1).max(256).default("groups").meta({
      description: "oidc: the claim that names somebody's groups (cognito: always cognito:groups).",
    }),
    default_role: z.enum(["viewer", "editor", "none"]).default("viewer").meta({
      description: "The first role of whom no group gives one; none: they are not let in.",
    }),
    trust_emails: z.boolean().default(false).meta({
      description:
        "oidc: take the address for verified where the provider says nothing of email_verified (Entra ID); only where nobody can choose an address there by themselves.",
    }),
    refresh: Duration.default("10m").meta({
      description: "oidc: how old what the provider said of somebody may become, while they are signed in.",
    }),
  })
  .meta({ description: "With --auth-mode cognito or oidc." });

const most = (description: string) => z.int().min(1).max(1_000_000_000_000).optional().meta({ description });

const PerKey = z.strictObject({
  runs_per_hour: most(
    "How many runs it may start in an hour (UTC); more are refused. Scheduled runs and those of workflow steps do not count.",
  ),
  unfinished_runs: most("How many runs that it has started may be unfinished at a time; more are refused."),
  model_tokens_per_day: most(
    "How many tokens, in and out, models may use for its runs in a day (UTC); then their model steps fail.",
  ),
  rows_per_day: most(
    "How many rows databases may give to its runs in a day (UTC); then their sql steps fail.",
  ),
});

export const Config = z
  .strictObject({
    databases: z.array(Database).default([]).meta({ description: "What sql steps can ask." }),
    models: z.array(Model).default([]).meta({ description: "What model steps can call." }),
    mcp_servers: z.array(McpServer).default([]).meta({ description: "Whose tools tool steps can call." }),
    secrets: z.array(Secret).default([]).meta({ description: "The only secrets that workflows can name." }),
    authentication: z
      .strictObject({
        basic: Smtp.optional().meta({ description: "How mail is sent." }),
        sessions: z
          .strictObject({
            idle: Duration.default("3d").meta({ description: "How long a session may go unused." }),
            longest: Duration.default("30d").meta({ description: "How long a session may last at all." }),
          })
          .default({ idle: "3d", longest: "30d" })
          .meta({ description: "Of people who are signed in." }),
        sign_on: SignOn.prefault({}),
      })
      .prefault({})
      .meta({ description: "Users and mail." }),
    defaults: z
      .strictObject({
        database: Name.optional().meta({ description: "The database of sql steps that name none." }),
      })
      .default({}),
    http: z
      .strictObject({
        allowed_hosts: z.array(Host).default([]).meta({
          description:
            "Private hosts that http steps may reach all the same, with a port or for all ports; *.example.com is any name below.",
        }),
      })
      .default({ allowed_hosts: [] }),
    mail: z
      .strictObject({
        allowed_domains: z
          .array(z.string().min(1))
          .default([])
          .meta({ description: "Domains that email steps may write to." }),
        from: z.email().optional().meta({
          description: "The sender of all mail; smtp_user when left out, which must then be an address.",
        }),
      })
      .default({ allowed_domains: [] }),
    retention: z
      .strictObject({
        runs: Duration.default("90d").meta({ description: "How long finished runs are kept." }),
        audit: Duration.default("400d").meta({ description: "How long the audit log goes back." }),
      })
      .default({ runs: "90d", audit: "400d" })
      .meta({ description: "How long things are kept." }),
    approvals: z
      .strictObject({
        by_starter: z
          .boolean()
          .default(false)
          .meta({ description: "Whether who started a run may decide its approvals." }),
      })
      .default({ by_starter: false })
      .meta({ description: "Who may decide." }),
    limits: z
      .strictObject({
        requests_per_minute: z.int().min(1).optional().meta({
          description: "Per API key, per person who is signed in, and process; no limit when left out.",
        }),
        unfinished_runs: z
          .int()
          .min(1)
          .max(10_000_000)
          .default(100_000)
          .meta({ description: "How many runs may be unfinished at a time; more are refused." }),
        per_key: PerKey.default({}).meta({
          description:
            "For each person, with all their keys, and each key of the operator, with all that it is rotated to; over all copies.",
        }),
      })
      .default({ unfinished_runs: 100_000, per_key: {} }),
  })
  .meta({ id: "Config", title: "Millrace configuration" });
export type Config = z.output<typeof Config>;
