import { z } from "zod";
import { EXPRESSION_PATTERN } from "../../schemas/field-values.ts";
import {
  type MissingName,
  type PartialIssue,
  SCRATCH_DATABASE,
  type SqlColumn,
} from "../core/connections.ts";
import { SECOND } from "../core/clock.ts";
import {
  ANY,
  BOOLEAN,
  listOf,
  mapOf,
  nullable,
  NUMBER,
  objectOf,
  type Shape,
  STRING,
} from "../core/shapes.ts";
import { asWritten } from "./as-written.ts";
import { StepError } from "../core/step-errors.ts";
import type { SpanAttributes } from "../core/tracer.ts";
import {
  defineStepType,
  literal,
  type StepCheckContext,
  template,
  type UnresolvedStep,
} from "../core/step-type.ts";

/** Maximum size of the rows, in bytes of JSON. */
const MAX_BYTES = 1024 * 1024;
/** Maximum of max_rows. */
export const MAX_ROWS = 10_000;
/** Number of rows that are recorded unless max_rows is set. */
export const DEFAULT_MAX_ROWS = 1_000;
const NO_DATABASE = "The step names no database, and the configuration has no default database.";
const NO_DATABASE_FIX = "Set database to the name of a configured database.";

/** The name of a parameter or a table in the query. */
const SqlName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, {
  error: "must be a letter, then up to 62 letters, digits or _",
});

const Query = z
  .string()
  .min(1)
  .max(100_000)
  .refine((text) => !text.includes("${{"), {
    message: "must not contain ${{ }}: write :name in the query, and set its value in params",
    params: { code: "not_allowed" },
  });

const columnShape = objectOf({ name: STRING, type: STRING });
const outputOf = (rows: Shape): Shape =>
  objectOf({ rows, columns: listOf(columnShape), row_count: NUMBER, truncated: BOOLEAN });

export const sqlStep = defineStepType({
  type: "sql",
  title: "Query a database",
  description:
    "Runs one query on a configured database and returns its rows. Values are set in params and written as :name in the query. Read-only unless both the database and the step allow writing. database: scratch queries the rows of earlier steps with DuckDB.",
  fields: {
    database: literal(
      z.string().min(1).max(63).optional().meta({
        description:
          "The name of a configured database, or scratch: an empty DuckDB in memory, for tables. Default: the configured default.",
        example: "shop",
      }),
    ),
    query: literal(
      Query.meta({
        description:
          "One statement in the SQL of the database. It contains no ${{ }}: values are written as :name.",
        example: "SELECT region, SUM(amount) AS total FROM orders WHERE ordered_on >= :since GROUP BY region",
      }),
    ),
    params: template(
      z
        .record(SqlName, z.unknown())
        .optional()
        .meta({
          description:
            "Values for :name in the query: text, numbers, booleans or null. Objects become JSON text.",
          example: { since: "${{ inputs.since }}" },
        }),
    ),
    write: literal(
      z.boolean().optional().meta({
        description:
          "Whether the statement may change data. The database must be configured as read-write too.",
        example: false,
      }),
    ),
    max_rows: literal(
      z.int().min(1).max(MAX_ROWS).default(DEFAULT_MAX_ROWS).meta({
        description: "Maximum number of rows. on_truncate says what happens if there are more.",
        example: DEFAULT_MAX_ROWS,
      }),
    ),
    on_truncate: literal(
      z.enum(["fail", "keep"]).default("fail").meta({
        description:
          "When there are more rows than max_rows, or more than 1 MiB: fail as truncated and write nothing, or keep the first rows (truncated is true).",
        example: "keep",
      }),
    ),
    tables: template(
      z
        .record(SqlName, z.array(z.unknown()))
        .optional()
        .meta({
          description: "With database: scratch: table names with the lists to load into them.",
          example: { orders: "${{ steps.orders.rows }}", costs: "${{ steps.costs.rows }}" },
        }),
    ),
  },
  example: {
    id: "revenue",
    type: "sql",
    database: "shop",
    query: "SELECT region, SUM(amount) AS total FROM orders WHERE ordered_on >= :since GROUP BY region",
    params: { since: "${{ inputs.since }}" },
  },
  output: outputOf(listOf(mapOf(ANY))),
  timeoutMs: 30 * SECOND,
  hasEffects: (step) => step["write"] === true,
  resource: (step, connections) => {
    const database = databaseOf(step, connections);
    return database === null ? null : `database:${database}`;
  },
  canLookUp: "without_effects",
  describeEffect(step, { connections }) {
    const database = databaseOf(step, connections);
    if (database === SCRATCH_DATABASE) return { words: "Computes in memory", does: "nothing", targets: [] };
    if (database === null)
      return { words: "Needs a database, but none is configured", does: "nothing", targets: [] };
    const name = asWritten(database);
    return step["write"] === true
      ? { words: `Writes to the database ${name}`, does: "writes", targets: [name] }
      : { words: `Reads the database ${name}`, does: "reads", targets: [name] };
  },
  spanAttributes(step, connections): SpanAttributes {
    const name = databaseOf(step, connections);
    const type = connections.databases.list().find((database) => database.name === name)?.type;
    if (name === null || type === undefined) return {};
    const system = type === "postgres" ? "postgresql" : type;
    // Both the current attribute name and the one that many tools still use. The statement is not exported.
    return { "db.system.name": system, "db.system": system, "millrace.database": name };
  },
  // The rows in scratch were metered when they were read.
  meteredResource: ({ database }) => (database === SCRATCH_DATABASE ? null : "rows"),
  check: async (step, ctx) => {
    const database = databaseOf(step, ctx.connections);
    if (database === null)
      return {
        issues: [{ path: ["database"], code: "missing", message: NO_DATABASE, fix: NO_DATABASE_FIX }],
      };
    const query = step["query"];
    // The schema reports a query of the wrong form.
    if (!Query.safeParse(query).success) return { issues: [] };
    const tables = tablesOf(step, ctx);
    const facts = { facts: { tables } };
    const constants = constantParams(step["params"]);
    const prepare = (params: readonly string[]) =>
      ctx.connections.databases.prepare(
        { database, query: query as string, params, constants, write: step["write"] === true, tables },
        ctx,
      );
    const params = namesOf("params", step, ctx);
    let prepared = await prepare(params ?? []);
    // If one expression computes all parameters, those of the query are assumed to exist.
    if (params === undefined && "issues" in prepared)
      prepared = await prepare(
        prepared.issues.flatMap(({ path }) => (path?.[0] === "params" ? [String(path[1])] : [])),
      );
    const listIssues = listParamIssues(params ?? [], ctx);
    if ("issues" in prepared) {
      const { issues, missing } = prepared;
      const isCreated = missing !== undefined && isCreatedEarlier(missing, database, ctx);
      const reported = issues.map((issue) =>
        isCreated && issue.path?.[0] === "query" ? createdEarlier(issue) : issue,
      );
      return { issues: [...reported, ...listIssues] };
    }
    if (Object.values(tables ?? {}).includes(null)) return { issues: listIssues, ...facts };
    return { issues: listIssues, output: outputOf(listOf(rowShape(prepared.columns))), ...facts };
  },
  needsFacts: ({ tables }) => tables !== undefined,
  run: async ({ database: requested, query, params, write, max_rows, on_truncate, tables }, ctx) => {
    const { connections, facts } = ctx;
    const database = requested ?? connections.defaultDatabase;
    if (database === null) throw new StepError("environment", NO_DATABASE, { fix: NO_DATABASE_FIX });
    const result = await connections.databases.query(
      {
        database,
        query,
        params: params ?? {},
        write: write ?? false,
        maxRows: max_rows,
        maxBytes: MAX_BYTES,
        keepTruncated: on_truncate === "keep",
        tables,
        tableColumns: (facts as { tables?: TableColumns } | undefined)?.tables,
      },
      ctx,
    );
    if (result.truncated && on_truncate === "fail")
      throw truncatedError(result.rows.length, max_rows, write === true);
    const columns = result.columns.map(({ name, type }) => ({ name, type }));
    const rows = database === SCRATCH_DATABASE ? 0 : result.rows.length;
    return { kind: "done", output: { ...result, columns }, rows };
  },
});

function truncatedError(rows: number, maxRows: number, write: boolean): StepError {
  const limit =
    rows >= maxRows
      ? `more than ${maxRows} rows`
      : `more than ${MAX_BYTES / 1024 / 1024} MiB (the limit is reached after ${rows} rows)`;
  const more =
    rows >= maxRows && maxRows < MAX_ROWS ? `raise max_rows (${MAX_ROWS} at most)` : "select fewer columns";
  return new StepError(
    "truncated",
    `The query returned ${limit}.${write ? " Everything that it wrote was rolled back." : ""}`,
    {
      fix: `Filter or aggregate in the query, ${more}, or set on_truncate: keep to use the first rows only.`,
    },
  );
}

const databaseOf = (
  step: UnresolvedStep,
  { defaultDatabase }: Pick<StepCheckContext["connections"], "defaultDatabase">,
): string | null => (typeof step["database"] === "string" ? step["database"] : defaultDatabase);

/** Returns the parameters whose values contain no expression. */
function constantParams(params: unknown): Readonly<Record<string, unknown>> {
  if (typeof params !== "object" || params === null || Array.isArray(params)) return {};
  return Object.fromEntries(
    Object.entries(params).filter(([, value]) => !EXPRESSION_PATTERN.test(JSON.stringify(value) ?? "")),
  );
}

/** Whether an earlier step creates what is missing on the same database: then it is there when this step runs. */
function isCreatedEarlier({ kind, name }: MissingName, database: string, ctx: StepCheckContext): boolean {
  const escaped = (name.split(".").at(-1) ?? name).replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const creates = new RegExp(
    kind === "table"
      ? String.raw`\bcreate\b[^(]*[\s."\x60\[]${escaped}["\x60\]]?(?:\s|\(|$)`
      : String.raw`\b(?:create|alter)\b[^]*[\s,("\x60\[]${escaped}\b`,
    "i",
  );
  return ctx
    .earlierSteps()
    .some(
      (step) =>
        step.type === "sql" &&
        step["write"] === true &&
        databaseOf(step, ctx.connections) === database &&
        typeof step["query"] === "string" &&
        creates.test(step["query"]),
    );
}

const createdEarlier = (issue: PartialIssue): PartialIssue => ({
  path: ["query"],
  code: "not_checked",
  severity: "warning",
  message: `can't be checked before an earlier step has created what it uses (${issue.message})`,
  fix: "Nothing needs to be done. To have the query checked, create the table before you save the workflow.",
});

/** Returns the keys of a field that is an object; undefined if they are known only at run time. */
function namesOf(field: string, step: UnresolvedStep, ctx: StepCheckContext): string[] | undefined {
  const written = step[field];
  if (written === undefined) return [];
  if (typeof written === "object" && written !== null) return Object.keys(written);
  const shape = ctx.shapeOf(field);
  return shape.kind === "object" ? Object.keys(shape.fields) : undefined;
}

/** Reports parameters that are lists, which databases do not accept. */
const listParamIssues = (names: readonly string[], ctx: StepCheckContext): PartialIssue[] =>
  names
    .filter((name) => ctx.shapeAt("params", name).kind === "list")
    .map((name) => ({
      path: ["params", name],
      code: "wrong_type",
      message: "must be a single value, got a list",
      fix: `Pass it as text with to_json(…) and unpack it in the query, for example with json_each(:${name}) in SQLite, or load it as one of tables into database: scratch.`,
    }));

/** Returns the columns of the tables to load, as far as they are known. */
function tablesOf(step: UnresolvedStep, ctx: StepCheckContext): TableColumns | undefined {
  const names = namesOf("tables", step, ctx);
  if (step["tables"] === undefined) return undefined;
  // One expression computes all tables, so not even their names are known.
  if (names === undefined) return { [UNKNOWN_TABLE]: null };
  return Object.fromEntries(names.map((name) => [name, columnsOf(ctx.shapeAt("tables", name))]));
}

const UNKNOWN_TABLE = "unknown";

type TableColumns = Readonly<Record<string, readonly SqlColumn[] | null>>;

function columnsOf(shape: Shape): SqlColumn[] | null {
  if (shape.kind !== "list") return null;
  const { of } = shape;
  if (of.kind === "object" && of.open === true) return null;
  if (of.kind === "object") return Object.entries(of.fields).map(([name, field]) => columnOf(name, field));
  return SCALARS.has(of.kind) ? [columnOf("value", of)] : null;
}

const SCALARS: ReadonlySet<Shape["kind"]> = new Set(["string", "number", "boolean"]);

const columnOf = (name: string, { kind, sqlNumber }: Shape): SqlColumn => ({
  name,
  type: kind === "string" || kind === "number" || kind === "boolean" ? kind : "any",
  ...(sqlNumber !== undefined && { sqlNumber }),
  databaseType: null,
});

const rowShape = (columns: readonly SqlColumn[]): Shape =>
  objectOf(
    Object.fromEntries(
      columns.map(({ name, type, sqlNumber }) => [
        name,
        nullable({ kind: type, ...(sqlNumber !== undefined && { sqlNumber }) }),
      ]),
    ),
  );
