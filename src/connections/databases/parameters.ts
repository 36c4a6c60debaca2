/** Checks the parameters of a query and converts their values. */
import type { PartialIssue } from "../../core/connections.ts";
import { nearMatch } from "../../core/near-match.ts";
import { StepError } from "../../core/step-errors.ts";
import type { SqlValue } from "./driver.ts";
import type { Dialect } from "./sql-scanner.ts";
import { toJsonText } from "./values.ts";

/**
 * @param wanted the names in the query
 * @param given the names in params
 */
export function parameterIssues(wanted: readonly string[], given: readonly string[]): PartialIssue[] {
  const missing = wanted.filter((name) => !given.includes(name));
  const unused = given.filter((name) => !wanted.includes(name));
  return [
    ...missing.map((name) => missingIssue(name, nearMatch(name, unused))),
    ...unused.map((name) => unusedIssue(name, nearMatch(name, missing), wanted)),
  ];
}

const missingIssue = (name: string, near: string | undefined): PartialIssue => ({
  path: ["params", name],
  code: "missing",
  message: `is missing, but the query has :${name}`,
  ...(near !== undefined && { did_you_mean: near }),
  fix:
    near === undefined
      ? `Add ${name} to params.`
      : `Rename the parameter to ${name}, or write :${near} in the query.`,
});

const unusedIssue = (name: string, near: string | undefined, wanted: readonly string[]): PartialIssue => ({
  path: ["params", name],
  code: "unused_parameter",
  message: "is not in the query (outside texts and comments)",
  allowed: [...wanted],
  ...(near !== undefined && { did_you_mean: near }),
  fix: `Write :${name} in the query, without quotes, or remove the parameter.`,
});

/** @param message why the database refuses the value */
export const unfitValueIssue = (name: string, message: string): PartialIssue => ({
  path: ["params", name],
  code: "wrong_type",
  message: `has a value that the query does not accept: ${message}`,
  fix: `Pass a value of the type that :${name} has in the query, or cast it there: CAST(:${name} AS …).`,
});

/** How a query uses a list that is passed as JSON text in one parameter. */
const LIST_FIX: Readonly<Record<Dialect, (name: string) => string>> = {
  sqlite: (name) => `IN (SELECT value FROM json_each(:${name}))`,
  duckdb: (name) => `IN (SELECT unnest(from_json(:${name}, '["VARCHAR"]')))`,
  postgresql: (name) => `= ANY (ARRAY(SELECT jsonb_array_elements_text(:${name}::jsonb)))`,
  mysql: (name) => `IN (SELECT v FROM JSON_TABLE(:${name}, '$[*]' COLUMNS (v VARCHAR(255) PATH '$')) AS j)`,
};

/** The value of a parameter while its query is prepared; null if it is not known, or one that a run refuses. */
export const knownValue = (name: string, value: unknown, dialect: Dialect): SqlValue =>
  Array.isArray(value) || (typeof value === "string" && !value.isWellFormed())
    ? null
    : toBoundValue(name, value, dialect);

/** @throws StepError input_invalid for a list, and for text that is no Unicode; an object is bound as JSON text */
export function toBoundValue(name: string, value: unknown, dialect: Dialect): SqlValue {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value))
    throw new StepError("input_invalid", `params.${name} is a list, and a parameter is one value.`, {
      fix: `Pass it as text with \${{ to_json(…) }} and write ${LIST_FIX[dialect](name)}; or join tables of the database scratch.`,
    });
  if (typeof value === "string" && !value.isWellFormed())
    throw new StepError(
      "input_invalid",
      `params.${name} has half of a surrogate pair, which is no character.`,
      {
        fix: "Correct where the text was cut: databases store whole characters only.",
      },
    );
  if (typeof value === "object") return toJsonText(value);
  return typeof value === "bigint" ? String(value) : (value as SqlValue);
}
