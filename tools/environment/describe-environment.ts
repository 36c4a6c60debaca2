import { z } from "zod";
import { MAX_WAIT_SECONDS } from "../../schemas/run.ts";
import { text, timestamp } from "../../schemas/text.ts";
import { MAX_STEPS } from "../../schemas/workflow-definition.ts";
import type { Connections, NamedConnection } from "../../src/core/connections.ts";
import { iso } from "../../src/core/clock.ts";
import type { RemainingUsage } from "../../src/core/engine-port.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import type { AnyStepType, Field } from "../../src/core/step-type.ts";
import { defineTool } from "../../src/core/tool.ts";
import { MAX_CALL_DEPTH } from "../../src/engine/run-state/prepare-run.ts";

const named = {
  name: z.string().meta({ description: "What workflows call it.", example: "shop" }),
  type: z.string().meta({ example: "sqlite" }),
  unusable: z
    .string()
    .optional()
    .meta({ description: "Why it can't be used now.", example: "SHOP_PASSWORD is not set" }),
};
const concurrency = z.int().nullable().meta({
  description: "The most that use it at a time; null for no limit.",
  example: 10,
});

const Environment = z
  .strictObject({
    guide: z
      .string()
      .meta({ description: "How the language works; with a topic, all of it.", example: "# Expressions" }),
    databases: z
      .array(
        z.strictObject({
          ...named,
          access: z.enum(["read-only", "read-write"]).meta({ example: "read-only" }),
          concurrency,
        }),
      )
      .optional(),
    default_database: z
      .string()
      .nullable()
      .optional()
      .meta({ description: "That of sql steps that name none.", example: "shop" }),
    models: z
      .array(z.strictObject({ ...named, model_ref: z.string().meta({ example: "gpt-5-mini" }), concurrency }))
      .optional(),
    mcp_servers: z.array(z.strictObject({ ...named, concurrency })).optional(),
    secrets: z
      .array(
        z.strictObject({
          name: named.name,
          hosts: z
            .array(z.string())
            .meta({ description: "Where it may go.", example: ["hooks.example.com"] }),
          unusable: named.unusable,
        }),
      )
      .optional(),
    mail: z
      .strictObject({
        allowed_domains: z.array(z.string()).meta({ example: ["example.com"] }),
        unusable: named.unusable,
      })
      .optional(),
    step_types: z
      .array(
        z.strictObject({
          type: z.string().meta({ example: "sql" }),
          description: z.string().meta({ example: "Runs one query." }),
          fields: z
            .array(z.string())
            .meta({ description: "An asterisk marks required ones.", example: ["query*", "database"] }),
        }),
      )
      .optional(),
    functions: z
      .array(z.string())
      .optional()
      .meta({ description: "Of expressions.", example: ["sum", "join"] }),
    limits: z
      .record(z.string(), z.number())
      .optional()
      .meta({ example: { steps: MAX_STEPS } }),
    your_limits: z
      .array(
        z.strictObject({
          limit: z.string().meta({ example: "runs_per_hour" }),
          most: z.int().meta({ example: 1_000 }),
          left: z.int().meta({ description: "What you can use now.", example: 958 }),
          resets_at: timestamp
            .nullable()
            .meta({ description: "When all of it is there again; null where that takes runs to end." }),
        }),
      )
      .optional()
      .meta({ description: "What the operator allows your key, or you; left out where nothing is limited." }),
  })
  .meta({ id: "Environment", description: "What workflows can use." });

export const describeEnvironment = defineTool({
  name: "describe_environment",
  title: "Describe the environment",
  description:
    "What workflows can use: databases, models, MCP servers, secrets, step types, functions. Call it before you write a " +
    "definition; then with topic definition (the whole language, with an example), expressions, or a step type.",
  route: "GET /environment",
  scope: "read",
  effect: "read",
  errors: [],
  input: z.strictObject({
    topic: text(50, 1).optional().meta({
      description: "Only the guide to this: definition, expressions, or a step type.",
      example: "definition",
    }),
  }),
  output: Environment,
  run: async ({ topic }, { actor, engine }) => {
    const { connections, stepTypes } = engine;
    if (topic !== undefined) return { guide: await guide(topic, stepTypes) };
    const allowances = await engine.remainingUsage(actor.principal);
    return {
      ...(await overview(connections, stepTypes)),
      ...(allowances.length > 0 && { your_limits: allowances.map(shownAllowance) }),
    };
  },
});

const shownAllowance = ({ limit, max, remaining, resetsAt }: RemainingUsage) => ({
  limit,
  most: max,
  left: remaining,
  resets_at: resetsAt === null ? null : iso(resetsAt),
});

async function guide(topic: string, stepTypes: readonly AnyStepType[]): Promise<string> {
  // With the language itself, which a listener does not load before somebody asks for it.
  const { getGuide, TOPICS } = await import("./guide.ts");
  const found = getGuide(topic, stepTypes);
  if (found !== undefined) return found;
  const allowed = [...TOPICS, ...stepTypes.map(({ type }) => type)];
  const near = nearMatch(topic, allowed);
  const message = "is no topic of the guide";
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

/** What there is of that name, and why it can't be used where it can't. */
const known = ({ name, type, unavailableReason }: NamedConnection) =>
  unavailableReason === null ? { name, type } : { name, type, unusable: unavailableReason };

async function overview(
  connections: Connections,
  stepTypes: readonly AnyStepType[],
): Promise<z.input<typeof Environment>> {
  const [{ MAX_BYTES }, { FUNCTIONS }] = await Promise.all([
    import("../../src/engine/definition/check/index.ts"),
    import("../../src/engine/definition/expressions/functions.ts"),
  ]);
  const { databases, models, mcpServers, http, mailer, defaultDatabase } = connections;
  const whyNoMail = mailer.unavailableReason();
  return {
    guide:
      'Before you write a definition: describe_environment with topic "definition" (GET /environment?topic=definition), ' +
      "then with the step types you use. Tables and columns: describe_database.",
    databases: databases
      .list()
      .map(({ name, access, ...rest }) =>
        Object.assign(known({ name, ...rest }), { access, concurrency: databases.concurrencyOf(name) }),
      ),
    default_database: defaultDatabase,
    models: models
      .list()
      .map(({ name, model_ref, ...rest }) =>
        Object.assign(known({ name, ...rest }), { model_ref, concurrency: models.concurrencyOf(name) }),
      ),
    mcp_servers: mcpServers
      .list()
      .map((server) => Object.assign(known(server), { concurrency: mcpServers.concurrencyOf(server.name) })),
    secrets: http
      .secrets()
      .map(({ name, hosts, unavailableReason }) =>
        Object.assign(
          { name, hosts: [...hosts] },
          unavailableReason !== null && { unusable: unavailableReason },
        ),
      ),
    mail: {
      allowed_domains: [...mailer.allowedDomains()],
      ...(whyNoMail !== null && { unusable: whyNoMail }),
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
    },
  };
}
