/** The configuration file. It never contains secrets, only the names of the environment variables that hold them. */
import { z } from "zod";
import { chatConfig } from "./chat-config.ts";
import { MailAddress } from "./mail-address.ts";
import { OauthConfig } from "./oauth-config.ts";
import { SecretCommand } from "./secret-command.ts";
import { SignOn } from "./sign-on-config.ts";
import { OnInterrupted } from "./interruption.ts";
import { text } from "./text.ts";
import { Duration, Rate } from "./field-values.ts";

/** Any text that shows: a control character in a name could not be seen or written in a workflow. */
const Name = text(200, 1)
  .refine((name) => !/\p{C}/u.test(name), { error: "must not contain control characters" })
  .meta({ description: "Its name in workflows: any text of up to 200 characters.", example: "shop" });

/** One of `values`, in any case: `PostgreSQL` is `postgresql`. */
const anyCase = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.preprocess((value) => (typeof value === "string" ? value.toLowerCase() : value), z.enum(values));

/** A host name, a `*.` wildcard or an IP address (IPv6 in brackets), with an optional port. */
const HOST =
  /^(?:(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,250}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$/;

/** The error message does not repeat the value, which may be the secret itself by mistake. */
const VariableName = (content: string) =>
  z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, {
      error: "must be the NAME of an environment variable, not the secret itself",
    })
    .meta({ description: `The NAME of the environment variable that holds ${content}.` });

const Host = z.string().regex(HOST, {
  error:
    "must be a host such as hooks.example.com, *.example.com, 10.0.0.5:8080 or [::1], without scheme and path",
});

const Port = z.int().min(1).max(65_535);

const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const DATABASE_TYPES = ["sqlite", "duckdb", "postgresql", "mysql", "mariadb"] as const;
const MODEL_VENDORS = ["openai", "anthropic", "google", "mistral", "openai-compatible"] as const;

const onInterrupted = (steps: string) =>
  z
    .enum(OnInterrupted.options)
    .optional()
    .meta({
      description: `What happens after an attempt of ${steps} ended without an answer, unless the step has on_interrupted: retry sends it again, fail ends the step, ask waits for a person. Default: retry.`,
    });

const idempotent = (receiver: string) =>
  z
    .boolean()
    .optional()
    .meta({
      description: `Whether ${receiver} honours the idempotency key that it gets, so that a repeated request has no second effect. Default: false.`,
    });

const DatabaseRole = z.strictObject({
  name: text(63, 1).meta({ description: "The name of the role in grants." }),
  user: z.string().min(1).max(200).meta({ description: "The user that statements connect as." }),
  password_var: VariableName("the password of this user").optional(),
});

const Database = z.strictObject({
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
  on_interrupted: onInterrupted("a sql step that writes"),
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

const Model = z.strictObject({
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

const McpServer = z.strictObject({
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
  idempotent: idempotent("the server"),
  on_interrupted: onInterrupted("a tool step"),
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

const Secret = z.strictObject({
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

const Smtp = z.strictObject({
  smtp_user: z.string().min(1),
  smtp_password_var: VariableName("the mail password"),
  smtp_server: z.string().min(1),
  smtp_port: Port,
  secure: z.enum(["tls", "starttls", "plain"]).optional().meta({
    description:
      "tls: encrypted from the start. starttls: encrypted before mail is sent. plain: not encrypted. Default: tls on port 465, else starttls, which a server on this machine need not offer.",
  }),
});

/** A limit, or null for none. */
const limit = (description: string) =>
  z
    .preprocess(
      (value) => (value === "none" ? null : value),
      z.int().min(1).max(1_000_000_000_000).nullable(),
    )
    .optional()
    .meta({ description: `${description} null: no limit.` });

const PerKey = z.strictObject({
  runs_per_hour: limit(
    "Maximum number of runs that start in an hour (UTC), also by its schedules and its runs; more are refused.",
  ),
  unfinished_runs: limit(
    "Maximum number of unfinished runs at a time, also of its schedules and its runs; more are refused.",
  ),
  model_tokens_per_day: limit(
    "Maximum number of model tokens, input and output, that its runs use in a day (UTC); then their model steps fail.",
  ),
  rows_per_day: limit(
    "Maximum number of rows that databases return to its runs in a day (UTC); then their sql steps fail.",
  ),
  stored_bytes: limit(
    "Maximum number of bytes that its runs and versions store: inputs, outputs, definitions; then new runs and versions are refused.",
  ),
  mails_per_hour: limit(
    "Maximum number of mails in an hour (UTC), one for each address: of email steps, approvals, notifications and invitations; further ones wait for the next hour; invitations and requests for a review are not sent then.",
  ),
  mails_to_address_per_hour: limit(
    "Maximum number of these mails to one address in an hour (UTC); further ones are treated the same.",
  ),
});

export const PER_KEY_LIMITS = Object.keys(PerKey.shape) as (keyof typeof PerKey.shape)[];

/** Maximum bytes that a run stores, unless the configuration has another maximum: 256 MiB. */
export const DEFAULT_RUN_BYTES = 268_435_456;

/** The operator's maxima for durations in definitions, unless the configuration has others. */
export const DURATION_LIMITS = { max_step_timeout: "1h", max_wait: "400d" };

const maximum = (field: keyof typeof DURATION_LIMITS, description: string) =>
  Duration.refine((value) => /[1-9]/.test(value), { error: "must be longer than 0" })
    .default(DURATION_LIMITS[field])
    .meta({ description });

export const Config = z
  .strictObject({
    databases: z.array(Database).default([]).meta({ description: "Databases that sql steps can query." }),
    models: z.array(Model).default([]).meta({ description: "Models that model steps can call." }),
    mcp_servers: z
      .array(McpServer)
      .default([])
      .meta({ description: "MCP servers whose tools tool steps can call." }),
    secrets: z.array(Secret).default([]).meta({ description: "Secrets that workflows can use, by name." }),
    chats: z.array(chatConfig(Name, VariableName)).default([]).meta({
      description: "Chats that approvals are posted to: Slack with buttons that decide, Teams with a link.",
    }),
    secret_command: SecretCommand.optional(),
    authentication: z
      .strictObject({
        basic: Smtp.optional().meta({ description: "The SMTP server that mail is sent through." }),
        sessions: z
          .strictObject({
            idle: Duration.default("3d").meta({ description: "Maximum time that a session may be unused." }),
            longest: Duration.default("30d").meta({ description: "Maximum lifetime of a session." }),
          })
          .default({ idle: "3d", longest: "30d" })
          .meta({ description: "Sessions of signed-in users." }),
        sign_on: SignOn.prefault({}),
        oauth: OauthConfig.prefault({}),
      })
      .prefault({})
      .meta({ description: "Users and mail." }),
    defaults: z
      .strictObject({
        database: Name.optional().meta({ description: "The database of sql steps that do not name one." }),
      })
      .default({}),
    http: z
      .strictObject({
        allowed_hosts: z.array(Host).default([]).meta({
          description:
            "Private hosts that http steps may reach nevertheless, for one port or all ports; *.example.com matches every subdomain.",
        }),
        public: z.enum(["none", "list", "any"]).default("any").meta({
          description:
            "Which hosts with public addresses http steps may reach: none, those of public_hosts, or any.",
        }),
        public_hosts: z.array(Host).default([]).meta({
          description: "With public: list, the public hosts that http steps may reach; as in allowed_hosts.",
        }),
        proxy_resolves: z.boolean().default(false).meta({
          description:
            "With an outgoing proxy: whether the proxy looks up the names of hosts. It must then refuse private addresses itself.",
        }),
        hosts: z
          .array(
            z.strictObject({
              host: Host.meta({
                description: "The host, for one port or all ports; *.example.com matches every subdomain.",
              }),
              idempotent: idempotent("the host"),
              on_interrupted: onInterrupted("an http step with effects"),
            }),
          )
          .default([])
          .meta({
            description:
              "What is known of hosts, for requests that end without an answer. The most specific entry that matches a host counts.",
          }),
      })
      .prefault({})
      .meta({ description: "Where http steps may send requests." }),
    mail: z
      .strictObject({
        allowed_domains: z
          .array(z.string().min(1))
          .default([])
          .meta({ description: "Domains that email steps may send mail to." }),
        from: MailAddress.optional().meta({
          description: "The sender of all mail. Default: smtp_user, which must then be an address.",
        }),
        on_interrupted: onInterrupted("an email step"),
      })
      .default({ allowed_domains: [] }),
    retention: z
      .strictObject({
        runs: Duration.default("90d").meta({ description: "How long finished runs are kept." }),
        audit: Duration.default("400d").meta({ description: "How long audit log entries are kept." }),
        deliveries: Duration.default("30d").meta({
          description: "How long deliveries to subscriptions are kept after they ended.",
        }),
      })
      .default({ runs: "90d", audit: "400d", deliveries: "30d" })
      .meta({ description: "How long data is kept." }),
    audit: z
      .strictObject({
        reads: z.boolean().default(false).meta({
          description:
            "Whether each answered read of run values (inputs, outputs, states, errors) gets an entry, before the answer is sent.",
        }),
        secrets: z.boolean().default(false).meta({
          description:
            "Whether each use of an entry of secrets, or of the login of a connection, by an attempt of a step gets an entry, before it is sent.",
        }),
      })
      .default({ reads: false, secrets: false })
      .meta({ description: "What the audit log records besides accepted changes." }),
    approvals: z
      .strictObject({
        by_starter: z
          .boolean()
          .default(false)
          .meta({ description: "Whether the user or key that started a run may decide its approvals." }),
        by_author: z.boolean().optional().meta({
          description:
            "Whether those who wrote or published what takes part in a run may decide its approvals, although nobody else has reviewed it since. Default: as by_starter.",
        }),
      })
      .default({ by_starter: false })
      .meta({ description: "Who may decide." }),
    limits: z
      .strictObject({
        requests_per_minute: z.int().min(1).optional().meta({
          description: "Maximum per API key or signed-in user, in each process. Default: no limit.",
        }),
        connections: z.int().min(16).max(1_000_000).default(10_000).meta({
          description:
            "Maximum number of open connections of a listener; three quarters of the open files that the process may have, if that is less.",
        }),
        connections_per_address: z.int().min(1).max(1_000_000).optional().meta({
          description:
            "Maximum number of open connections from one address (of IPv6: one /64), except from MILLRACE_TRUSTED_PROXIES. Default: a share, at most three quarters of all.",
        }),
        unfinished_runs: z
          .int()
          .min(1)
          .max(10_000_000)
          .default(100_000)
          .meta({ description: "Maximum number of unfinished runs at a time; more are refused." }),
        queue_age: Duration.default("1h").meta({
          description:
            "How long steps of an owner may wait for an executor before new runs of this owner are refused.",
        }),
        free_disk: z.int().min(0).max(1_000_000_000_000_000).optional().meta({
          description:
            "Free bytes on the file system of the state directory below which no new runs start. 0: no limit. Default: 5 % of the file system, at most 536870912 (512 MiB).",
        }),
        max_priority: z.int().min(0).max(10).default(0).meta({
          description:
            "Up to this priority, runs go before those of other owners. A higher one orders only the runs of its owner.",
        }),
        min_schedule_interval: Duration.default("1m").meta({
          description:
            "Shortest time between two runs of a schedule; a definition with a shorter one is refused.",
        }),
        max_step_timeout: maximum(
          "max_step_timeout",
          "Longest timeout of steps that call something (http, sql, model, tool, email); a longer one is refused.",
        ),
        max_wait: maximum(
          "max_wait",
          "Longest timeout of waits, approvals, workflow steps and runs, and longest pause and cache; a longer one is refused.",
        ),
        run_bytes: z.int().min(1_048_576).max(1_000_000_000_000).default(DEFAULT_RUN_BYTES).meta({
          description:
            "Maximum bytes that a run stores: its inputs, and the inputs and outputs of its steps. Default: 268435456 (256 MiB).",
        }),
        per_key: PerKey.default({}).meta({
          description:
            "For each user with all their keys, and each key of the operator with the keys that replaced it; over all copies of the server.",
        }),
      })
      .prefault({}),
  })
  .meta({ id: "Config", title: "Millrace configuration" });

/** An entry of the file that can't be used. Its name is known, so that the issues of workflows that need it can say why. */
export interface UnusableEntry {
  list: "databases" | "models" | "mcp_servers" | "secrets";
  name: string;
  /** What is wrong with it: clauses that begin with a path. */
  issues: readonly string[];
}
export type Config = z.output<typeof Config> & { unusable?: readonly UnusableEntry[] };
