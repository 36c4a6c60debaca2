/** The databases of a configuration and `scratch`, with the rules for all of them. */
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
import { type ConnectionConfig, type DatabaseEntry, missingFix } from "../limit-config.ts";
import { accessIssues } from "./access.ts";
import type { ScratchTable } from "./child-protocol.ts";
import type { Driver, Statement } from "./driver.ts";
import { issueOf, issueWithSuggestion } from "./prepare-issues.ts";
import { placeInQuery } from "./query-place.ts";
import { knownValue, parameterIssues, toBoundValue, unfitValueIssue } from "./parameters.ts";
import { emptyScratchTables, buildScratchTables } from "./scratch-tables.ts";
import { scanQuery, type ScannedQuery } from "./sql-scanner.ts";

type DescribeRequest = Parameters<Databases["describe"]>[1];
type Entry = DatabaseEntry;

/** Opens databases; all fronts share what is behind it. */
export interface DatabaseDrivers {
  /** Why a database can't be used, or null. */
  unavailableReason(entry: Entry): string | null;
  /** @throws StepError environment, where its password is missing */
  driverOf(entry: Entry): Promise<Driver>;
  /** A database in memory that holds these tables for one statement. */
  scratch(tables: ScratchTable[]): Driver;
  /** The call, whose signal is aborted with the caller's or when the connections are closed. */
  ending(call: CallContext): CallContext;
}

/** Maximum number of databases that an issue lists. */
const MAX_LISTED = 50;

export function namedDatabases(
  config: Pick<ConnectionConfig, "databases" | "unusable" | "isLimited">,
  { unavailableReason, driverOf, scratch, ending }: DatabaseDrivers,
): Databases {
  const entries = new Map(config.databases.map((database) => [database.name, database]));
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
      fix: missingFix(
        config,
        near === undefined
          ? `Databases: ${[...entries.keys(), SCRATCH_DATABASE].join(", ")}.`
          : `Did you mean ${near}?`,
      ),
    });
  };

  const isLimited = config.isLimited === true;

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

  /** @throws StepError for the first issue of the query */
  async function query(request: SqlRequest, call: CallContext) {
    const { database, tables, tableColumns, write, maxRows, maxBytes, keepTruncated } = request;
    const isScratch = database === SCRATCH_DATABASE;
    const access = isScratch ? "read-only" : entryOf(database).access;
    const driver = isScratch
      ? scratch(buildScratchTables(tables ?? {}, tableColumns))
      : await driverOf(entryOf(database));
    const scanned = scanQuery(request.query, driver.dialect);
    refuse(config, [
      ...scanned.issues,
      ...tableIssues(database, tables),
      ...accessIssues(scanned, driver.dialect, database, { write, access, isLimited }),
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
        ...(database.roles !== undefined &&
          config.isLimited !== true && { roles: database.roles.map(({ name }) => name) }),
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
        const driver = isScratch ? scratch(empty ?? []) : await driverOf(entryOf(database));
        const scanned = scanQuery(text, driver.dialect);
        const issues = [
          ...scanned.issues,
          ...tableIssues(database, tables),
          ...accessIssues(scanned, driver.dialect, database, { write, access, isLimited }),
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
          const place = placeInQuery(text, scanned.isComment, {
            message: issue.message,
            missing: missing?.name,
          });
          const isOfQuery = place !== undefined && issue.path?.[0] === "query";
          return { issues: [...issues, isOfQuery ? { ...issue, place } : issue], missing };
        }
      } catch (error) {
        return { issues: [issueOf(error)] };
      }
    },
    describe: (name, options, call) => named(name, describe(name, options, ending(call))),
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
  return { ...rendered, render: scanned.render, values: order.map((index) => values[index] ?? null), write };
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
function refuse(config: Pick<ConnectionConfig, "isLimited">, issues: readonly PartialIssue[]): void {
  const [issue] = issues;
  if (issue === undefined) return;
  const isReadOnly = issue.code === "database_read_only";
  const code = isReadOnly ? "database_read_only" : "input_invalid";
  throw new StepError(code, `${(issue.path ?? []).join(".")} ${issue.message}.`.trimStart(), {
    ...(issue.fix !== undefined && { fix: isReadOnly ? missingFix(config, issue.fix) : issue.fix }),
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
