/** The databases that the configuration names, and `scratch`: the rules that hold for all of them. */
import type { Config } from "../../../schemas/config.ts";
import { type Databases, type PartialFault, SCRATCH, type SqlRequest } from "../../core/connections.ts";
import { nearMatch } from "../../core/near-match.ts";
import { StepError } from "../../core/step-errors.ts";
import { shownVariable } from "../../core/variables.ts";
import { accessFaults } from "./access.ts";
import { createChildren } from "./children.ts";
import type { Driver, Statement } from "./driver.ts";
import { fileDriver, scratchDriver } from "./embedded.ts";
import { faultOf, withMissingName } from "./prepare-faults.ts";
import { boundValue, parameterFaults } from "./parameters.ts";
import { emptyTables, loadTables } from "./scratch-tables.ts";
import { scanQuery, type ScannedQuery } from "./sql-scanner.ts";

type DescribeRequest = Parameters<Databases["describe"]>[1];
type Entry = Config["databases"][number];

export interface DatabasesOptions {
  /** Where our own state is: no database of a workflow may lie in it. */
  stateDir: string;
  /** How many children run embedded databases at a time. */
  children?: number;
  /** What each of them may use of memory, in MiB. */
  memoryMb?: number;
  /** How long a child or a connection stays without work, in milliseconds. */
  idleMs?: number;
  /** How long a server may take to answer a connection, in milliseconds. */
  connectMs?: number;
  /** How long an embedded database may look at a query before it is run, in milliseconds. */
  prepareMs?: number;
}

const DEFAULT_CONNECTIONS = 10;

/** @param env where passwords are looked up */
export function databases(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  {
    stateDir,
    children: size = 4,
    memoryMb = 512,
    idleMs = 30_000,
    connectMs = 10_000,
    prepareMs = 5_000,
  }: DatabasesOptions,
): Databases & { close(): Promise<void> } {
  const entries = new Map(config.databases.map((it) => [it.name, it]));
  const children = createChildren({ size, idleMs, memoryMb, prepareMs });
  const drivers = new Map<string, Promise<Driver>>();
  const closing = new AbortController();
  /** Aborted when nobody waits any longer, or nothing may go on. */
  const ending = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, closing.signal]);

  const entryOf = (name: string): Entry => {
    const entry = entries.get(name);
    if (entry !== undefined) return entry;
    const near = nearMatch(name, [...entries.keys(), SCRATCH]);
    throw new StepError("environment", `There is no database ${name} in the configuration.`, {
      fix:
        near === undefined ? `It has ${[...entries.keys(), SCRATCH].join(", ")}.` : `Did you mean ${near}?`,
    });
  };

  const unusable = ({ password_var: variable }: Entry): string | null =>
    variable === undefined || env[variable] ? null : `${shownVariable(variable)} is not set`;

  /** Made when it is first needed, so that a server which is away keeps nobody from starting. */
  function driverOf(entry: Entry): Promise<Driver> {
    const why = unusable(entry);
    if (why !== null)
      throw new StepError("environment", `The password of the database ${entry.name} is missing: ${why}.`, {
        fix: "The operator sets it where the service is started.",
      });
    const known = drivers.get(entry.name);
    if (known !== undefined) return known;
    const driver = makeDriver(entry);
    drivers.set(entry.name, driver);
    driver.catch(() => drivers.delete(entry.name));
    return driver;
  }

  /** What speaks to a server is loaded with the first one: many processes never reach any. */
  async function makeDriver({ type, dataset, password_var: variable, concurrency }: Entry): Promise<Driver> {
    if (type === "sqlite" || type === "duckdb") return fileDriver(type, dataset, stateDir, children);
    const server = {
      url: dataset,
      password: variable === undefined ? undefined : env[variable],
      connections: concurrency ?? DEFAULT_CONNECTIONS,
      idleMs,
      connectMs,
    };
    return type === "postgresql"
      ? (await import("./postgres.ts")).postgresDriver(server)
      : (await import("./mysql.ts")).mysqlDriver(server);
  }

  /** @throws StepError for the first thing that keeps it from running */
  async function query(request: SqlRequest, signal: AbortSignal) {
    const { database, tables, write, maxRows, maxBytes } = request;
    const isScratch = database === SCRATCH;
    const access = isScratch ? "read-only" : entryOf(database).access;
    const driver = isScratch
      ? scratchDriver(loadTables(tables ?? {}), children)
      : await driverOf(entryOf(database));
    const scanned = scanQuery(request.query, driver.dialect);
    refuse([
      ...scanned.faults,
      ...tableFaults(database, tables),
      ...accessFaults(scanned, driver.dialect, database, write, access),
      ...parameterFaults(scanned.names, Object.keys(request.params)),
    ]);
    const values = scanned.names.map((name) => boundValue(name, request.params[name], driver.dialect));
    return await driver.query(bound(scanned, driver, values, write), { maxRows, maxBytes }, signal);
  }

  async function describe(name: string, options: DescribeRequest, signal: AbortSignal) {
    const driver = await driverOf(entryOf(name));
    const found = await driver.describe({ ...options, counts: true }, signal);
    if (options.table === undefined || found.length > 0) return found;
    const all = await driver.describe({ samples: 0, limit: 1_000, counts: false }, signal);
    const near = nearMatch(
      options.table,
      all.map((it) => it.name),
    );
    throw new StepError("input_invalid", `There is no table ${options.table} in ${name}.`, {
      fix: near === undefined ? "Leave table out to see all of them." : `Did you mean ${near}?`,
    });
  }

  return {
    list: () =>
      config.databases.map((it) => ({
        name: it.name,
        type: it.type,
        unusable: unusable(it),
        access: it.access,
      })),
    concurrencyOf: (name) => entries.get(name)?.concurrency ?? null,
    query: (request, signal) => named(request.database, query(request, ending(signal))),
    async prepare({ database, query: text, params, write, tables = {} }, given) {
      const signal = ending(given);
      try {
        const isScratch = database === SCRATCH;
        const empty = isScratch ? emptyTables(tables) : [];
        const access = isScratch ? "read-only" : entryOf(database).access;
        const driver = isScratch ? scratchDriver(empty ?? [], children) : await driverOf(entryOf(database));
        const scanned = scanQuery(text, driver.dialect);
        const faults = [
          ...scanned.faults,
          ...tableFaults(database, tables),
          ...accessFaults(scanned, driver.dialect, database, write, access),
          ...parameterFaults(scanned.names, params),
        ];
        // A query that is only short of a parameter is prepared all the same: all faults at once.
        if (faults.some(({ path }) => path?.[0] !== "params") || empty === undefined)
          return faults.length > 0 ? { faults } : { columns: [] };
        const statement = bound(
          scanned,
          driver,
          scanned.names.map(() => null),
          write,
        );
        const prepared = await driver.prepare(statement, signal).then(
          (columns) => ({ columns }),
          async (error: unknown) => ({
            faults: [await withMissingName(error, driver, signal)],
          }),
        );
        if (faults.length === 0) return prepared;
        return { faults: [...faults, ...("faults" in prepared ? prepared.faults : [])] };
      } catch (error) {
        return { faults: [faultOf(error)] };
      }
    },
    describe: (name, options, signal) => named(name, describe(name, options, ending(signal))),
    async close() {
      closing.abort(new StepError("interrupted", "The service is ending."));
      children.close();
      await Promise.allSettled([...drivers.values()].map(async (it) => (await it).close()));
      drivers.clear();
    },
  };
}

/** The query for its driver, with the values in the order of its placeholders. */
function bound(
  scanned: ScannedQuery,
  driver: Driver,
  values: readonly Statement["values"][number][],
  write: boolean,
): Statement {
  const rendered = scanned.render(driver.placeholder);
  // Numbered placeholders take each value once, `?` takes it at each place.
  const order = driver.placeholder(0) === driver.placeholder(1) ? rendered.order : scanned.names.keys();
  return { ...rendered, values: Array.from(order, (index) => values[index] ?? null), write };
}

function tableFaults(
  database: string,
  tables: Readonly<Record<string, unknown>> | undefined,
): PartialFault[] {
  if (database === SCRATCH || Object.keys(tables ?? {}).length === 0) return [];
  return [
    {
      path: ["tables"],
      code: "not_allowed",
      message: `can only be loaded into the database ${SCRATCH}, not into ${database}`,
      fix: `Write database: ${SCRATCH}, and query ${database} in a step of its own before.`,
    },
  ];
}

/** @throws StepError of the first fault, at a time when faults are no longer collected */
function refuse(faults: readonly PartialFault[]): void {
  const [fault] = faults;
  if (fault === undefined) return;
  const code = fault.code === "database_read_only" ? fault.code : "input_invalid";
  throw new StepError(code, `${(fault.path ?? []).join(".")} ${fault.message}.`.trimStart(), {
    ...(fault.fix !== undefined && { fix: fault.fix }),
  });
}

/** Errors that a database itself told say which one it was. */
async function named<T>(database: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StepError) || !/^database_|^deadlock$/.test(error.code)) throw error;
    throw new StepError(error.code, `${database}: ${error.message}`, error.options);
  }
}
