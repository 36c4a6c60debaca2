/** The databases of the configuration and `scratch`, with the rules for all of them. */
import type { Config } from "../../../schemas/config.ts";
import {
  type CallContext,
  type Databases,
  type PartialIssue,
  SCRATCH_DATABASE,
  type SqlRequest,
} from "../../core/connections.ts";
import { nearMatch } from "../../core/near-match.ts";
import { StepError } from "../../core/step-errors.ts";
import { CORRECT_ENTRY, unusableNames } from "../../core/unusable-entries.ts";
import { describeVariable } from "../../core/variables.ts";
import { accessIssues } from "./access.ts";
import { createChildPool } from "./child-pool.ts";
import type { Driver, Statement } from "./driver.ts";
import { createFileDriver, createScratchDriver } from "./embedded.ts";
import { issueOf, issueWithSuggestion } from "./prepare-issues.ts";
import { knownValue, parameterIssues, toBoundValue, unfitValueIssue } from "./parameters.ts";
import { emptyScratchTables, buildScratchTables } from "./scratch-tables.ts";
import { shareConnections } from "./share-connections.ts";
import { scanQuery, type ScannedQuery } from "./sql-scanner.ts";

type DescribeRequest = Parameters<Databases["describe"]>[1];
type Entry = Config["databases"][number];

export interface DatabasesOptions {
  /** The state directory, in which workflows must not open databases. */
  stateDir: string;
  /** Maximum number of child processes for embedded databases. One owner gets at most three quarters of them. */
  maxChildProcesses?: number;
  /** Memory limit of each child process, in MiB. */
  memoryMb?: number;
  /** How long an idle child process or connection stays open, in milliseconds. */
  idleTimeoutMs?: number;
  /** Time limit for connecting to a server, in milliseconds. */
  connectTimeoutMs?: number;
  /** Time limit for preparing a query in an embedded database, in milliseconds. */
  prepareTimeoutMs?: number;
}

const DEFAULT_CONNECTIONS = 10;
/** Maximum number of databases that an issue lists. */
const MAX_LISTED = 50;

/** @param env environment variables, which hold the passwords */
export function createDatabases(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  {
    stateDir,
    maxChildProcesses: size = 4,
    memoryMb = 512,
    idleTimeoutMs = 30_000,
    connectTimeoutMs = 10_000,
    prepareTimeoutMs = 5_000,
  }: DatabasesOptions,
): Databases & { close(): Promise<void> } {
  const entries = new Map(config.databases.map((database) => [database.name, database]));
  const children = createChildPool({ size, idleTimeoutMs, memoryMb, prepareTimeoutMs });
  const drivers = new Map<string, Promise<Driver>>();
  const closing = new AbortController();
  /** The signal is aborted with the caller's, or when the connections are closed. */
  const ending = ({ owner, signal }: CallContext): CallContext => ({
    owner,
    signal: AbortSignal.any([signal, closing.signal]),
  });

  const unusable = unusableNames(config, "databases");

  const entryOf = (name: string): Entry => {
    const entry = entries.get(name);
    if (entry !== undefined) return entry;
    const broken = unusable.find((other) => other.name === name);
    if (broken !== undefined)
      throw new StepError("environment", `The database ${name} can't be used: ${broken.reason}.`, {
        fix: CORRECT_ENTRY,
      });
    const near = nearMatch(name, [...entries.keys(), SCRATCH_DATABASE]);
    throw new StepError("environment", `There is no database ${name} in the configuration.`, {
      fix:
        near === undefined
          ? `Databases: ${[...entries.keys(), SCRATCH_DATABASE].join(", ")}.`
          : `Did you mean ${near}?`,
    });
  };

  /** @returns the issue of a name that is not configured */
  function unknownNameIssue(name: string): PartialIssue | undefined {
    if (name === SCRATCH_DATABASE || entries.has(name)) return undefined;
    // The error at the first use says why.
    if (unusable.some((other) => other.name === name)) return undefined;
    const names = [...entries.keys(), SCRATCH_DATABASE];
    const near = nearMatch(name, names);
    return {
      path: ["database"],
      code: "unknown_database",
      message: `must be the name of a configured database, got ${name}`,
      allowed: names.slice(0, MAX_LISTED),
      fix: near === undefined ? `Write one of ${names.slice(0, MAX_LISTED).join(", ")}.` : `Write ${near}.`,
      ...(near !== undefined && { did_you_mean: near }),
    };
  }

  const unavailableReason = ({ password_var: variable }: Entry): string | null =>
    variable === undefined || env[variable] ? null : `${describeVariable(variable)} is not set`;

  /** Connects on demand, so that an unavailable server does not prevent the start. */
  function driverOf(entry: Entry): Promise<Driver> {
    const why = unavailableReason(entry);
    if (why !== null)
      throw new StepError("environment", `The password of the database ${entry.name} is missing: ${why}.`, {
        fix: "Ask the operator to set it where the servers are started.",
      });
    const known = drivers.get(entry.name);
    if (known !== undefined) return known;
    const driver = makeDriver(entry);
    drivers.set(entry.name, driver);
    driver.catch(() => drivers.delete(entry.name));
    return driver;
  }

  /** Loads the drivers of servers on demand, because many processes use none. */
  async function makeDriver({ type, dataset, password_var: variable, concurrency }: Entry): Promise<Driver> {
    if (type === "sqlite" || type === "duckdb") return createFileDriver(type, dataset, stateDir, children);
    const server = {
      url: dataset,
      password: variable === undefined ? undefined : env[variable],
      maxConnections: concurrency ?? DEFAULT_CONNECTIONS,
      idleTimeoutMs: idleTimeoutMs,
      connectTimeoutMs: connectTimeoutMs,
    };
    const driver =
      type === "postgresql"
        ? (await import("./postgres.ts")).createPostgresDriver(server)
        : (await import("./mysql.ts")).createMysqlDriver(server);
    return shareConnections(driver, server.maxConnections);
  }

  /** @throws StepError for the first issue of the query */
  async function query(request: SqlRequest, call: CallContext) {
    const { database, tables, tableColumns, write, maxRows, maxBytes, keepTruncated } = request;
    const isScratch = database === SCRATCH_DATABASE;
    const access = isScratch ? "read-only" : entryOf(database).access;
    const driver = isScratch
      ? createScratchDriver(buildScratchTables(tables ?? {}, tableColumns), children)
      : await driverOf(entryOf(database));
    const scanned = scanQuery(request.query, driver.dialect);
    refuse([
      ...scanned.issues,
      ...tableIssues(database, tables),
      ...accessIssues(scanned, driver.dialect, database, write, access),
      ...parameterIssues(scanned.parameterNames, Object.keys(request.params)),
    ]);
    const values = scanned.parameterNames.map((name) =>
      toBoundValue(name, request.params[name], driver.dialect),
    );
    return await driver.query(
      bound(scanned, driver, values, write),
      { maxRows, maxBytes, keepTruncated },
      call,
    );
  }

  async function describe(name: string, options: DescribeRequest, call: CallContext) {
    const driver = await driverOf(entryOf(name));
    const found = await driver.describe({ ...options, includeRowCounts: true }, call);
    if (options.table === undefined || found.length > 0) return found;
    const all = await driver.describe({ samples: 0, limit: 1_000, includeRowCounts: false }, call);
    const near = nearMatch(
      options.table,
      all.map((table) => table.name),
    );
    throw new StepError("input_invalid", `There is no table ${options.table} in ${name}.`, {
      fix: near === undefined ? "Omit table to list all tables." : `Did you mean ${near}?`,
    });
  }

  return {
    list: () => [
      ...config.databases.map((database) => ({
        name: database.name,
        type: database.type,
        unavailableReason: unavailableReason(database),
        access: database.access,
      })),
      ...unusable.map(({ name, reason }) => ({
        name,
        type: "unknown",
        unavailableReason: reason,
        access: "read-only" as const,
      })),
    ],
    concurrencyOf: (name) => entries.get(name)?.concurrency ?? null,
    rateOf: (name) => entries.get(name)?.rate ?? null,
    query: (request, call) => named(request.database, query(request, ending(call))),
    async prepare({ database, query: text, params, constants = {}, write, tables = {} }, given) {
      const call = ending(given);
      const unknown = unknownNameIssue(database);
      if (unknown !== undefined) return { issues: [unknown] };
      try {
        const isScratch = database === SCRATCH_DATABASE;
        const empty = isScratch ? emptyScratchTables(tables) : [];
        const access = isScratch ? "read-only" : entryOf(database).access;
        const driver = isScratch
          ? createScratchDriver(empty ?? [], children)
          : await driverOf(entryOf(database));
        const scanned = scanQuery(text, driver.dialect);
        const issues = [
          ...scanned.issues,
          ...tableIssues(database, tables),
          ...accessIssues(scanned, driver.dialect, database, write, access),
          ...parameterIssues(scanned.parameterNames, params),
        ];
        // A query with an issue of another field is still prepared, so that all issues are reported together.
        if (issues.some(({ path }) => path?.[0] === "query" || path?.[0] === "tables") || empty === undefined)
          return issues.length > 0 ? { issues } : { columns: [] };
        const values = scanned.parameterNames.map((name) =>
          knownValue(name, constants[name], driver.dialect),
        );
        const statement = bound(scanned, driver, values, write && access === "read-write");
        try {
          const { columns, unfit = [] } = await driver.prepare(statement, call);
          const order = placeholderOrder(scanned, driver);
          const unfitIssues = unfit.map(({ position, message }) =>
            unfitValueIssue(scanned.parameterNames[order[position]!]!, message),
          );
          if (issues.length + unfitIssues.length > 0) return { issues: [...issues, ...unfitIssues] };
          return { columns };
        } catch (error) {
          const { issue, missing } = await issueWithSuggestion(error, driver, call);
          // Without write access the database refuses a statement that writes, which is reported already.
          if (issues.length > 0 && issue.code === "database_read_only") return { issues };
          return { issues: [...issues, issue], missing };
        }
      } catch (error) {
        return { issues: [issueOf(error)] };
      }
    },
    describe: (name, options, call) => named(name, describe(name, options, ending(call))),
    async close() {
      closing.abort(new StepError("interrupted", "The process is shutting down."));
      children.close();
      await Promise.allSettled([...drivers.values()].map(async (driver) => (await driver).close()));
      drivers.clear();
    },
  };
}

/** Converts a query for its driver, with the values in the order of the placeholders. */
function bound(
  scanned: ScannedQuery,
  driver: Driver,
  values: readonly Statement["values"][number][],
  write: boolean,
): Statement {
  const rendered = scanned.render(driver.placeholder);
  const order = placeholderOrder(scanned, driver);
  return { ...rendered, values: order.map((index) => values[index] ?? null), write };
}

/** The index of each placeholder's parameter: numbered placeholders take each value once, `?` takes it at each place. */
const placeholderOrder = (scanned: ScannedQuery, { placeholder }: Driver): number[] =>
  placeholder(0) === placeholder(1)
    ? scanned.render(placeholder).parameterOrder
    : [...scanned.parameterNames.keys()];

function tableIssues(
  database: string,
  tables: Readonly<Record<string, unknown>> | undefined,
): PartialIssue[] {
  if (database === SCRATCH_DATABASE || Object.keys(tables ?? {}).length === 0) return [];
  return [
    {
      path: ["tables"],
      code: "not_allowed",
      message: `can be loaded only into the database ${SCRATCH_DATABASE}, not into ${database}`,
      fix: `Use database: ${SCRATCH_DATABASE}, and query ${database} in a separate step before.`,
    },
  ];
}

/** @throws StepError for the first issue, at run time */
function refuse(issues: readonly PartialIssue[]): void {
  const [issue] = issues;
  if (issue === undefined) return;
  const code = issue.code === "database_read_only" ? issue.code : "input_invalid";
  throw new StepError(code, `${(issue.path ?? []).join(".")} ${issue.message}.`.trimStart(), {
    ...(issue.fix !== undefined && { fix: issue.fix }),
  });
}

/** Adds the name of the database to its errors. */
async function named<T>(database: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StepError) || !/^database_|^deadlock$/.test(error.code)) throw error;
    throw new StepError(error.code, `${database}: ${error.message}`, error.options);
  }
}
