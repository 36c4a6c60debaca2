/** SQLite and DuckDB files, and `scratch`: the databases that run in child processes. */
import { realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import type { SqlResult, TableDescription } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import type { BoundText, ChildSpec, PlacesText, ScratchTable } from "./child-protocol.ts";
import type { ChildPool } from "./child-pool.ts";
import type { Driver, PreparedStatement, Statement } from "./driver.ts";
import { probeLiteral } from "./duckdb-moment-places.ts";
import { readMoment } from "./moments.ts";

/** The only folder of the state directory that workflows can read: it holds the sample database. */
const SAMPLES = "samples";

interface FileOptions {
  stateDir: string;
  children: ChildPool;
  /** Called with the path of the file that a statement opens, without links. */
  onFile: (file: string) => void;
}

/** @param dataset the file, which must not be in the state directory */
export function createFileDriver(
  engine: ChildSpec["engine"],
  dataset: string,
  { stateDir, children, onFile }: FileOptions,
): Driver {
  const specFor = async (write: boolean) => {
    const file = await realFile(dataset, stateDir);
    onFile(file);
    return { engine, file, write };
  };
  return {
    dialect: engine,
    placeholder: (index) => (engine === "sqlite" ? `?${index + 1}` : `$${index + 1}`),
    query: async (statement, limits, call) => {
      const bound = engine === "duckdb" ? duckdbTexts(statement) : textOf(statement);
      const request = { op: "query", ...bound, limits, tables: [] } as const;
      return (await children.send(
        await specFor(statement.write),
        { ...request, tables: [] },
        call,
      )) as SqlResult;
    },
    prepare: async (statement, call) => {
      const bound =
        engine === "duckdb" ? { ...textOf(statement), withNulls: withNulls(statement) } : textOf(statement);
      const request = { op: "prepare", ...bound, tables: [] } as const;
      return (await children.send(
        await specFor(statement.write),
        { ...request, tables: [] },
        call,
      )) as PreparedStatement;
    },
    describe: async (options, call) =>
      (await children.send(await specFor(false), { op: "describe", options }, call)) as TableDescription[],
    close: () => Promise.resolve(),
  };
}

/** A DuckDB in memory that holds these tables for one statement. */
export function createScratchDriver(tables: ScratchTable[], children: ChildPool): Driver {
  const spec = { engine: "duckdb", file: null, write: false } as const;
  return {
    dialect: "duckdb",
    placeholder: (index) => `$${index + 1}`,
    query: async (statement, limits, call) =>
      (await children.send(
        spec,
        { op: "query", ...duckdbTexts(statement), limits, tables },
        call,
      )) as SqlResult,
    prepare: async (statement, call) => {
      const texts = { ...textOf(statement), withNulls: withNulls(statement) };
      const request = { op: "prepare", ...texts, tables } as const;
      return (await children.send(spec, request, call)) as PreparedStatement;
    },
    describe: () =>
      Promise.resolve(
        tables.map(({ name, columns, rows }) => ({
          name,
          kind: "table",
          columns: columns.map((column) => ({ ...column, nullable: true })),
          row_count: rows.length,
        })),
      ),
    close: () => Promise.resolve(),
  };
}

const textOf = ({ text, values }: Statement): BoundText => ({ text, values });

const withNulls = ({ render }: Statement): string => render(() => "(NULL)").text;

/** DuckDB gives a parameter that stands at places of several types none, and leaves out the offset of a moment there. */
function duckdbTexts(statement: Statement): BoundText & { perPlace?: PlacesText } {
  const { values, render } = statement;
  if (!values.some((value) => readMoment(value)?.isShifted === true)) return textOf(statement);
  let places = 0;
  const { text, parameterOrder } = render(() => `$${(places += 1)}`);
  let probes = 0;
  const perPlace = {
    text,
    values: parameterOrder.map((index) => values[index] ?? null),
    probe: render((index) => probeLiteral(values[index] ?? null, probes++)).text,
    sharedProbe: render((index) => probeLiteral(values[index] ?? null, index)).text,
  };
  return { ...textOf(statement), perPlace };
}

/** Resolves links, which may change between runs, so that the file is never in the state directory. */
async function realFile(dataset: string, stateDir: string): Promise<string> {
  const [file, state] = await Promise.all([
    realpath(dataset).catch((error: NodeJS.ErrnoException) => {
      const missing = error.code === "ENOENT" || error.code === "ENOTDIR";
      throw new StepError(
        "database_unavailable",
        missing ? "Its file does not exist." : `Its file cannot be opened (${error.code}).`,
        { fix: "Ask the operator to correct dataset in the configuration.", cause: error },
      );
    }),
    // Without a state directory there is nothing to protect.
    realpath(stateDir).catch(() => stateDir),
  ]);
  const below = relative(state, file);
  if (!below.startsWith("..") && !isAbsolute(below) && !below.startsWith(`${SAMPLES}${sep}`))
    throw new StepError("environment", "Its file is in the state directory, which workflows must not read.", {
      fix: "Ask the operator to move the file to another directory.",
    });
  return file;
}
