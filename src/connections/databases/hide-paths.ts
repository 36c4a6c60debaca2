/**
 * Hides from callers where the files, programs and sockets of databases are: engines write absolute paths into their errors, and
 * DuckDB into its own tables. An author of SQL can still compute something from such a value, as with any value that a query sees.
 */
import { realpath } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { StepError } from "../../core/step-errors.ts";
import type { Driver } from "./driver.ts";

/** What callers read instead of the path of a database. */
const FILE = "(database file)";
const PATH = "(path)";

/** An absolute path in an error that is about files or sockets, with the names of at least one folder and a file. */
const ANY_PATH = /(?<![\w.:/])(?:\/[^\s"'`:;,()[\]{}<>|/]+){2,}\/?/g;
/** DuckDB says which process holds the lock of a file. */
const HOLDER = / (?:is held )?in \S+ \(PID \d+\)(?: by user \S+)?/g;

type Hide = (text: string) => string;

/** @returns the same driver, whose rows, issues and errors have no path of its file, and whose errors about files have no paths */
export function hidingPaths(driver: Driver, dataset: string | null): Driver {
  async function hidden<T>(work: Promise<T>): Promise<T> {
    try {
      const result = await work;
      return dataset === null ? result : hiddenIn(result, await pathsOf(dataset));
    } catch (error) {
      throw error instanceof StepError ? withoutPaths(error, await pathsOf(dataset)) : error;
    }
  }
  return {
    ...driver,
    query: (...args) => hidden(driver.query(...args)),
    prepare: (...args) => hidden(driver.prepare(...args)),
    describe: (...args) => hidden(driver.describe(...args)),
  };
}

/** As it is configured, and where links lead to: the longest first, because one may begin with the other. */
async function pathsOf(dataset: string | null): Promise<string[]> {
  if (dataset === null || !isAbsolute(dataset)) return [];
  const real = await realpath(dataset).catch(() => dataset);
  return [...new Set([real, dataset])].toSorted((a, b) => b.length - a.length);
}

const hiding =
  (paths: readonly string[]): Hide =>
  (text) => {
    let shown = text;
    // A query can change the case of what it reads.
    for (const path of paths)
      shown = shown.replaceAll(new RegExp(path.replaceAll(/[^\w/]/g, String.raw`\$&`), "gi"), FILE);
    return shown;
  };

/** Most results have no path, so they are searched before they are copied. */
function hiddenIn<T>(result: T, paths: readonly string[]): T {
  if (paths.length === 0) return result;
  const text = JSON.stringify(result).toLowerCase();
  const isIn = (path: string): boolean => text.includes(JSON.stringify(path).slice(1, -1).toLowerCase());
  return paths.some(isIn) ? (mapTexts(result, hiding(paths)) as T) : result;
}

function mapTexts(value: unknown, hide: Hide): unknown {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, hide));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [hide(key), mapTexts(item, hide)]));
}

function withoutPaths(error: StepError, paths: readonly string[]): StepError {
  const hide = hiding(paths);
  // Other errors quote the query of the caller, whose texts stay as they are.
  const isAboutFiles = error.code === "database_unavailable";
  const message = hide(error.message);
  const shown = isAboutFiles ? message.replaceAll(HOLDER, "").replaceAll(ANY_PATH, PATH) : message;
  if (shown === error.message) return error;
  // The log of the operator keeps the paths.
  return new StepError(error.code, shown, { ...error.options, cause: error.options.cause ?? error });
}
