/**
 * Hides from callers where the files, programs and sockets of databases are: engines write absolute paths into their errors, and
 * DuckDB into its own tables. An author of SQL can still compute something from such a value, as with any value that a query sees.
 */
import { isAbsolute } from "node:path";
import { hasText, mapTexts } from "../../core/map-texts.ts";
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

/**
 * @param paths of its file: as it is configured, and where links led to so far; empty for a server
 * @returns the same driver, whose rows, issues and errors have none of these paths, and whose errors about files have no paths
 */
export function hidingPaths(driver: Driver, paths: ReadonlySet<string>): Driver {
  const hide = hiding(paths);
  async function hidden<T>(work: Promise<T>): Promise<T> {
    try {
      const result = await work;
      // Most results have no path, so they are searched before they are copied.
      return paths.size > 0 && hasText(result, hide.isIn) ? (mapTexts(result, hide.in) as T) : result;
    } catch (error) {
      throw error instanceof StepError ? withoutPaths(error, hide.in) : error;
    }
  }
  return {
    ...driver,
    query: (...args) => hidden(driver.query(...args)),
    prepare: (...args) => hidden(driver.prepare(...args)),
    describe: (...args) => hidden(driver.describe(...args)),
  };
}

function hiding(paths: ReadonlySet<string>): { isIn(text: string): boolean; in: Hide } {
  let known = 0;
  let shortest = Infinity;
  let pattern = /(?!)/g;
  /** The pattern for all paths so far. A query can change the case of what it reads. */
  const current = (): RegExp => {
    if (paths.size === known) return pattern;
    known = paths.size;
    const absolute = [...paths].filter((path) => isAbsolute(path));
    if (absolute.length === 0) return pattern;
    shortest = Math.min(...absolute.map(({ length }) => length));
    // The longest first, because one may begin with the other.
    const sorted = absolute.toSorted((a, b) => b.length - a.length);
    pattern = new RegExp(sorted.map((path) => path.replaceAll(/[^\w/]/g, String.raw`\$&`)).join("|"), "gi");
    return pattern;
  };
  return {
    isIn(text) {
      const searched = current();
      return text.length >= shortest && text.search(searched) >= 0;
    },
    in: (text) => text.replaceAll(current(), FILE),
  };
}

function withoutPaths(error: StepError, hide: Hide): StepError {
  // Other errors quote the query of the caller, whose texts stay as they are.
  const isAboutFiles = error.code === "database_unavailable";
  const message = hide(error.message);
  const shown = isAboutFiles ? message.replaceAll(HOLDER, "").replaceAll(ANY_PATH, PATH) : message;
  if (shown === error.message) return error;
  // The log of the operator keeps the paths.
  return new StepError(error.code, shown, { ...error.options, cause: error.options.cause ?? error });
}
