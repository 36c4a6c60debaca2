import { z } from "zod";
import { MAX_WAIT_SECONDS } from "../../schemas/run.ts";
import { text, timestamp } from "../../schemas/text.ts";
import { MAX_STEPS } from "../../schemas/workflow-definition.ts";
import type { NamedConnection } from "../../src/core/connections.ts";
import { iso, SECOND } from "../../src/core/clock.ts";
import type { EngineApi, RemainingUsage } from "../../src/core/engine-port.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import type { AnyStepType, Field } from "../../src/core/step-type.ts";
import { defineTool } from "../../src/core/tool.ts";
import { MAX_CALL_DEPTH } from "../../src/engine/run-state/pin-calls.ts";

const connectionFields = {
  name: z.string().meta({ description: "Its name in workflows.", example: "shop" }),
  type: z.string().meta({ example: "sqlite" }),
  unusable: z
    .string()
    .optional()
    .meta({ description: "Why it can't be used now.", example: "SHOP_PASSWORD is not set" }),
};
const concurrency = z.int().nullable().meta({
  description: "Maximum number of uses at a time; null for no limit.",
  example: 10,
});

const Environment = z
  .strictObject({
    guide: z
      .string()
      .meta({ description: "The guide to the topic; without one, how to begin.", example: "# Expressions" }),
    databases: z
      .array(
        z.strictObject({
          ...connectionFields,
          access: z.enum(["read-only", "read-write"]).meta({ example: "read-only" }),
          concurrency,
        }),
      )
      .optional(),
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
    step_types: z
      .array(
        z.strictObject({
          type: z.string().meta({ example: "sql" }),
          description: z.string().meta({ example: "Runs one query." }),
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
          most: z.int().meta({ example: 1_000 }),
          left: z.int().meta({ description: "What remains.", example: 958 }),
          resets_at: timestamp
            .nullable()
            .meta({ description: "When it is reset; null when it is freed by runs that end or are purged." }),
        }),
      )
      .optional()
      .meta({ description: "The limits of your key or user; left out when there are none." }),
  })
  .meta({ id: "Environment", description: "What workflows can use." });

export const describeEnvironment = defineTool({
  name: "describe_environment",
  title: "Describe the environment",
  description:
    "Returns what workflows can use: databases, models, MCP servers, secrets, step types, functions. Call it before you " +
    "write a definition, then again with topic definition (the language, with an example), expressions, or a step type.",
  route: "GET /environment",
  scope: "read",
  effect: "read",
  errors: [],
  input: z.strictObject({
    topic: text(50, 1).optional().meta({
      description: "Return only the guide to it: definition, expressions, or a step type.",
      example: "definition",
    }),
  }),
  output: Environment,
  run: async ({ topic }, { actor, engine }) => {
    const { stepTypes } = engine;
    if (topic !== undefined) return { guide: await guideTo(topic, stepTypes) };
    const usage = await engine.remainingUsage(actor.principal);
    return {
      ...(await overview(engine)),
      ...(usage.length > 0 && { your_limits: usage.map(serializeLimit) }),
    };
  },
});

const serializeLimit = ({ limit, max, remaining, resetsAt }: RemainingUsage) => ({
  limit,
  most: max,
  left: remaining,
  resets_at: resetsAt === null ? null : iso(resetsAt),
});

async function guideTo(topic: string, stepTypes: readonly AnyStepType[]): Promise<string> {
  // Loaded on demand, because the guide imports the whole language.
  const { getGuide, TOPICS } = await import("./guide.ts");
  const guide = getGuide(topic, stepTypes);
  if (guide !== undefined) return guide;
  const allowed = [...TOPICS, ...stepTypes.map(({ type }) => type)];
  const near = nearMatch(topic, allowed);
  const message = "is not a topic of the guide";
  throw invalidInput([
    {
      path: "topic",
      code: "not_allowed",
      message,
      allowed,
      ...(near !== undefined && { did_you_mean: near }),
    },
  ]);
}

/** A connection, with the reason if it can't be used. */
const serializeConnection = ({ name, type, unavailableReason }: NamedConnection) =>
  unavailableReason === null ? { name, type } : { name, type, unusable: unavailableReason };

async function overview({
  connections,
  stepTypes,
  minScheduleIntervalMs,
}: EngineApi): Promise<z.input<typeof Environment>> {
  const [{ MAX_BYTES }, { FUNCTIONS }] = await Promise.all([
    import("../../src/engine/definition/check/index.ts"),
    import("../../src/engine/definition/expressions/functions.ts"),
  ]);
  const { databases, models, mcpServers, http, mailer, defaultDatabase } = connections;
  const noMailReason = mailer.unavailableReason();
  return {
    guide:
      'Before you write a definition, call describe_environment with topic "definition" ' +
      "(GET /environment?topic=definition), then with each step type that you use. Tables and columns: describe_database.",
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
    step_types: stepTypes.map(({ type, description, fields }) => ({
      type,
      description,
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
