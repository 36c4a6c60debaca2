import { z } from "zod";
import { Issue } from "../../schemas/problem.ts";
import { ProjectInput } from "../../schemas/project.ts";
import { MAX_WAIT_SECONDS } from "../../schemas/run.ts";
import { text, timestamp } from "../../schemas/text.ts";
import type { Surface } from "../../schemas/actor.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { MAX_STEPS } from "../../schemas/workflow-definition.ts";
import type { Connections, NamedConnection } from "../../src/core/connections.ts";
import { iso, SECOND } from "../../src/core/clock.ts";
import type { EngineApi, RemainingUsage } from "../../src/core/engine-port.ts";
import { formatShape } from "../../src/core/format-shape.ts";
import type { Field } from "../../src/core/step-type.ts";
import { defineTool } from "../../src/core/tool.ts";
import { projectFor } from "../projects/project-for.ts";
import { answerTopics } from "./answer-topics.ts";
import { briefEnvironment } from "./brief-environment.ts";
import { DatabaseTables, ServerTools, tablesOf, TOOLS_CHARS, toolsOf } from "./connected-names.ts";
import { visibleWorkflows, VisibleWorkflows } from "./visible-workflows.ts";
import { SHORT_GUIDE } from "./short-guide.ts";
import { MAX_CALL_DEPTH } from "../../src/engine/run-state/pin-calls.ts";

const connectionFields = {
  name: z.string().meta({ description: "Its name in workflows.", example: "shop" }),
  type: z.string().meta({ example: "sqlite" }),
  unusable: z
    .string()
    .optional()
    .meta({ description: "Why it can't be used now.", example: "SHOP_PASSWORD is not set" }),
};
/** The parts of the answer, which `fields` names. */
const SECTIONS = [
  "guide",
  "workflows",
  "databases",
  "tables",
  "default_database",
  "models",
  "mcp_servers",
  "tools",
  "secrets",
  "mail",
  "chats",
  "step_types",
  "functions",
  "limits",
  "your_limits",
] as const;
type Section = (typeof SECTIONS)[number];
/** Those that cost queries, also of other systems, which may be slow. */
const EXPENSIVE: ReadonlySet<Section> = new Set(["workflows", "tables", "tools"]);

const TOPIC_TEXT =
  "Only the guide to these, comma-separated: step types, fields, functions; or definition, expressions in full.";

const concurrency = z.int().nullable().meta({
  description: "Maximum number of uses at a time; null for no limit.",
  example: 10,
});

const Environment = z
  .strictObject({
    guide: z.string().optional().meta({
      description: "The guide to the topic; without one, the language in short.",
      example: "# Expressions",
    }),
    warnings: z.array(Issue).optional().meta({
      description: "The topics that the guide does not have. Left out when empty.",
      example: [],
    }),
    workflows: VisibleWorkflows.optional(),
    databases: z
      .array(
        z.strictObject({
          ...connectionFields,
          access: z.enum(["read-only", "read-write"]).meta({ example: "read-only" }),
          concurrency,
        }),
      )
      .optional(),
    tables: z.array(DatabaseTables).optional(),
    default_database: z
      .string()
      .nullable()
      .optional()
      .meta({ description: "The database of sql steps that do not name one.", example: "shop" }),
    models: z
      .array(
        z.strictObject({
          ...connectionFields,
          model_ref: z.string().meta({ example: "gpt-5-mini" }),
          concurrency,
        }),
      )
      .optional(),
    mcp_servers: z.array(z.strictObject({ ...connectionFields, concurrency })).optional(),
    tools: z.array(ServerTools).optional(),
    secrets: z
      .array(
        z.strictObject({
          name: connectionFields.name,
          hosts: z
            .array(z.string())
            .meta({ description: "The hosts that it may be sent to.", example: ["hooks.example.com"] }),
          methods: z
            .array(z.string())
            .optional()
            .meta({ description: "The methods that it may be sent with; absent: all.", example: ["POST"] }),
          headers: z
            .array(z.string())
            .optional()
            .meta({
              description: "The headers that it may be sent in; absent: all.",
              example: ["Authorization"],
            }),
          unusable: connectionFields.unusable,
        }),
      )
      .optional(),
    mail: z
      .strictObject({
        allowed_domains: z.array(z.string()).meta({ example: ["example.com"] }),
        unusable: connectionFields.unusable,
      })
      .optional(),
    chats: z
      .array(z.strictObject(connectionFields))
      .optional()
      .meta({ description: "The chats that approvals can be posted to; left out when there are none." }),
    step_types: z
      .array(
        z.strictObject({
          type: z.string().meta({ example: "sql" }),
          description: z.string().meta({ example: "Runs one query." }),
          output: z.string().meta({
            description: "The type of steps.<id>.",
            example: "{rows: [{…: any}], row_count: number}",
          }),
          fields: z.array(z.string()).meta({
            description: "The fields; an asterisk marks required ones.",
            example: ["query*", "database"],
          }),
        }),
      )
      .optional(),
    functions: z
      .array(z.string())
      .optional()
      .meta({ description: "Functions of expressions.", example: ["sum", "join"] }),
    limits: z
      .record(z.string(), z.number())
      .optional()
      .meta({ example: { steps: MAX_STEPS } }),
    your_limits: z
      .array(
        z.strictObject({
          limit: z.string().meta({ example: "runs_per_hour" }),
          project: z.string().optional().meta({
            description: "The project whose limit it is; left out for that of your key or user.",
            example: "finance",
          }),
          most: z.int().meta({ example: 1_000 }),
          left: z.int().meta({ description: "What remains.", example: 958 }),
          resets_at: timestamp
            .nullable()
            .meta({ description: "When it is reset; null when it is freed by runs that end or are purged." }),
        }),
      )
      .optional()
      .meta({
        description: "The limits of your key or user, and of the project; left out when there are none.",
      }),
  })
  .meta({ id: "Environment", description: "What workflows can use." });

export const describeEnvironment = defineTool({
  name: "describe_environment",
  title: "Describe the environment",
  description:
    "Returns the workflows (many: their number) and what a definition needs: the language in short, databases with tables and columns, models, MCP servers with " +
    "tools, secrets, step types, functions, limits. Call it once before you write one.",
  route: "GET /environment",
  scope: "read",
  effect: "read",
  brief: (environment, { fields }) =>
    (fields ?? null) === null ? briefEnvironment(environment) : environment,
  openWorld: true,
  errors: ["project_not_found"],
  input: z.strictObject({
    topic: z
      .union([text(500, 1), z.array(text(200, 1)).min(1).max(50)])
      .optional()
      .meta({
        description: TOPIC_TEXT,
        example: "http, repeat, format_date",
      })
      .register(shortSchemas, {
        type: "string",
        description: TOPIC_TEXT,
      }),
    fields: z
      .array(z.enum(SECTIONS))
      .min(1)
      .optional()
      .meta({
        description: "Only these parts. Default: all; over REST without workflows, tables and tools.",
        example: ["databases", "tables"],
      })
      .register(shortSchemas, {
        type: "array",
        items: { type: "string" },
        description: "Only these parts, such as tables.",
      }),
    project: ProjectInput,
  }),
  output: Environment,
  run: async ({ topic, fields, project: requested }, ctx) => {
    const { actor, engine } = ctx;
    const { stepTypes } = engine;
    if (topic !== undefined) return answerTopics(topic, stepTypes);
    const project = await projectFor(ctx, "read", requested);
    const connections = await engine.connectionsOf(project, actor.principal.access.keyLimits);
    const usage = await engine.remainingUsage(actor.principal, [project]);
    const wanted: ReadonlySet<Section> = new Set(fields ?? defaultSections(actor.client.surface));
    const [workflows, tables, tools] = await Promise.all([
      wanted.has("workflows") ? visibleWorkflows(ctx, requested) : undefined,
      wanted.has("tables") ? tablesOf(ctx, connections) : undefined,
      wanted.has("tools")
        ? toolsOf(ctx, connections, { maxChars: fields === undefined ? TOOLS_CHARS : Infinity })
        : undefined,
    ]);
    const parts = {
      ...(await overview(engine, connections)),
      ...(workflows && { workflows }),
      ...(tables && { tables }),
      ...(tools && { tools }),
      ...(usage.length > 0 && { your_limits: usage.map(serializeLimit) }),
    };
    return Object.fromEntries(Object.entries(parts).filter(([name]) => wanted.has(name as Section)));
  },
});

/** Agents need everything at once; other callers, such as the editor, ask often. */
const defaultSections = (surface: Surface): readonly Section[] =>
  surface === "mcp" ? SECTIONS : SECTIONS.filter((section) => !EXPENSIVE.has(section));

const serializeLimit = ({ limit, project, max, remaining, resetsAt }: RemainingUsage) => ({
  limit,
  ...(project !== undefined && { project }),
  most: max,
  left: remaining,
  resets_at: resetsAt === null ? null : iso(resetsAt),
});

const firstSentence = (description: string): string =>
  /^.*?[.](?=\s|$)/s.exec(description)?.[0] ?? description;

/** A connection, with the reason if it can't be used. */
const serializeConnection = ({ name, type, unavailableReason }: NamedConnection) =>
  unavailableReason === null ? { name, type } : { name, type, unusable: unavailableReason };

async function overview(
  { stepTypes, minScheduleIntervalMs }: EngineApi,
  { databases, models, mcpServers, http, mailer, chats, defaultDatabase }: Connections,
): Promise<z.input<typeof Environment>> {
  const [{ MAX_BYTES }, { FUNCTIONS }] = await Promise.all([
    import("../../src/engine/definition/check/index.ts"),
    import("../../src/engine/definition/expressions/functions.ts"),
  ]);
  const noMailReason = mailer.unavailableReason();
  return {
    guide: SHORT_GUIDE,
    databases: databases.list().map(({ name, access, ...rest }) =>
      Object.assign(serializeConnection({ name, ...rest }), {
        access,
        concurrency: databases.concurrencyOf(name),
      }),
    ),
    default_database: defaultDatabase,
    models: models.list().map(({ name, model_ref, ...rest }) =>
      Object.assign(serializeConnection({ name, ...rest }), {
        model_ref,
        concurrency: models.concurrencyOf(name),
      }),
    ),
    mcp_servers: mcpServers
      .list()
      .map((server) =>
        Object.assign(serializeConnection(server), { concurrency: mcpServers.concurrencyOf(server.name) }),
      ),
    secrets: http
      .secrets()
      .map(({ name, hosts, methods, headers, unavailableReason }) =>
        Object.assign(
          { name, hosts: [...hosts] },
          methods !== null && { methods: [...methods] },
          headers !== null && { headers: [...headers] },
          unavailableReason !== null && { unusable: unavailableReason },
        ),
      ),
    mail: {
      allowed_domains: [...mailer.allowedDomains()],
      ...(noMailReason !== null && { unusable: noMailReason }),
    },
    ...(chats.list().length > 0 && { chats: chats.list().map(serializeConnection) }),
    step_types: stepTypes.map(({ type, description, output, fields }) => ({
      type,
      description: firstSentence(description),
      output: formatShape(output),
      fields: Object.entries(fields as Readonly<Record<string, Field>>).map(([name, { schema }]) =>
        schema.safeParse(undefined).success ? name : `${name}*`,
      ),
    })),
    functions: Object.keys(FUNCTIONS),
    limits: {
      steps: MAX_STEPS,
      definition_bytes: MAX_BYTES,
      workflow_depth: MAX_CALL_DEPTH,
      wait_seconds: MAX_WAIT_SECONDS,
      schedule_interval_seconds: minScheduleIntervalMs / SECOND,
    },
  };
}
