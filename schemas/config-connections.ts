/** The connections in the configuration file: databases, models, MCP servers, secrets, mail. */
import { z } from "zod";
import { text } from "./text.ts";
import { Rate } from "./field-values.ts";

/** Any text that shows: a control character in a name could not be seen or written in a workflow. */
export const Name = text(200, 1)
  .refine((name) => !/\p{C}/u.test(name), { error: "must not contain control characters" })
  .meta({ description: "Its name in workflows: any text of up to 200 characters.", example: "shop" });

/** One of `values`, in any case: `PostgreSQL` is `postgresql`. */
const anyCase = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.preprocess((value) => (typeof value === "string" ? value.toLowerCase() : value), z.enum(values));

/** A host name, a `*.` wildcard or an IP address (IPv6 in brackets), with an optional port. */
const HOST =
  /^(?:(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,250}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$/;

/** The error message does not repeat the value, which may be the secret itself by mistake. */
export const VariableName = (content: string) =>
  z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, {
      error: "must be the NAME of an environment variable, not the secret itself",
    })
    .meta({ description: `The NAME of the environment variable that holds ${content}.` });

export const Host = z.string().regex(HOST, {
  error:
    "must be a host such as hooks.example.com, *.example.com, 10.0.0.5:8080 or [::1], without scheme and path",
});

const Port = z.int().min(1).max(65_535);

const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const DATABASE_TYPES = ["sqlite", "duckdb", "postgresql", "mysql", "mariadb"] as const;
const MODEL_VENDORS = ["openai", "anthropic", "google", "mistral", "openai-compatible"] as const;

const DatabaseRole = z.strictObject({
  name: text(63, 1).meta({ description: "The name of the role in grants." }),
  user: z.string().min(1).max(200).meta({ description: "The user that statements connect as." }),
  password_var: VariableName("the password of this user").optional(),
});

export const Database = z.strictObject({
  name: Name,
  type: anyCase(DATABASE_TYPES).meta({ description: "The type of database." }),
  dataset: z.string().min(1).meta({
    description:
      "sqlite and duckdb: a file path, relative to this file. Servers: a URL without the password.",
  }),
  access: z
    .enum(["read-only", "read-write"])
    .default("read-only")
    .meta({ description: "Whether workflows may write to it." }),
  password_var: VariableName("the password, for server databases").optional(),
  roles: z.array(DatabaseRole).min(1).optional().meta({
    description:
      "Servers only: other logins, of which a project can be granted one by its name. Its statements then connect as that user.",
  }),
  concurrency: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: "Maximum number of statements at a time, over all executors. Default: no limit." }),
  rate: Rate.optional().meta({
    description:
      "How many steps that use it may start in a time, such as 5/s, over all executors. Default: no limit.",
  }),
});

export const Model = z.strictObject({
  name: Name,
  vendor: anyCase(MODEL_VENDORS).meta({ description: "The vendor whose API is called." }),
  model_ref: z.string().min(1).meta({ description: "The vendor's name for the model." }),
  key_var: VariableName("the vendor's API key").optional(),
  base_url: z.url().optional().meta({ description: "Base URL of the API; required for openai-compatible." }),
  prices: z
    .strictObject({
      input: z.number().min(0).meta({ description: "Price of a million input tokens." }),
      output: z.number().min(0).meta({ description: "Price of a million output tokens." }),
    })
    .optional()
    .meta({ description: "Prices, to calculate the cost of calls." }),
  concurrency: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: "Maximum number of calls at a time, over all executors. Default: no limit." }),
  rate: Rate.optional().meta({
    description:
      "How many steps that use it may start in a time, such as 5/s, over all executors. Default: no limit.",
  }),
});

export const McpServer = z.strictObject({
  name: Name,
  command: z
    .string()
    .min(1)
    .optional()
    .meta({ description: "A program that speaks MCP over stdio; started as a child process." }),
  args: z.array(z.string()).optional().meta({ description: "Arguments of the command." }),
  url: z.url().optional().meta({ description: "Instead of a command: the URL of a Streamable HTTP server." }),
  key_var: VariableName(
    "the key, which is sent to a url as Authorization: Bearer, and passed to a command under the same name",
  ).optional(),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: "must be the NAME of a variable" }),
      VariableName("the value"),
    )
    .optional()
    .meta({
      description:
        "Environment variables for the command, each with the NAME of the server's variable that holds its value. Of the server's own, the command gets only PATH, HOME and the like.",
    }),
  concurrency: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: "Maximum number of calls at a time, over all executors. Default: no limit." }),
  rate: Rate.optional().meta({
    description:
      "How many steps that use it may start in a time, such as 5/s, over all executors. Default: no limit.",
  }),
});

export const Secret = z.strictObject({
  name: Name,
  key_var: VariableName("the secret"),
  hosts: z.array(Host).meta({
    description:
      "The only hosts that it may be sent to, for one port or all ports; *.example.com matches every subdomain. [] for one that is never sent and only checks signatures of webhooks.",
  }),
  methods: z
    .array(z.enum(HTTP_METHODS))
    .min(1)
    .optional()
    .meta({ description: "The only methods of requests that it may be sent with. Default: every method." }),
  headers: z
    .array(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, { error: "must be the name of a header" }))
    .min(1)
    .optional()
    .meta({
      description: "The only headers that it may be sent in, such as Authorization. Default: every header.",
    }),
});

export const Smtp = z.strictObject({
  smtp_user: z.string().min(1),
  smtp_password_var: VariableName("the mail password"),
  smtp_server: z.string().min(1),
  smtp_port: Port,
  secure: z.enum(["tls", "starttls", "plain"]).optional().meta({
    description:
      "tls: encrypted from the start. starttls: encrypted before mail is sent. plain: not encrypted. Default: tls on port 465, else starttls, which a server on this machine need not offer.",
  }),
});
