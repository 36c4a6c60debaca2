/** The types of columns in `scratch`: what the checker knows of a column, as far as all its values agree. */
import type { SqlColumn } from "../../core/connections.ts";
import { canonicalDigits } from "../../core/long-number-arithmetic.ts";
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import { StepError } from "../../core/step-errors.ts";
import type { ScratchTable } from "./child-protocol.ts";
import type { SqlValue } from "./driver.ts";
import { MAX_DECIMAL_DIGITS, MAX_INT128, MAX_INT64 } from "./duckdb-limits.ts";
import { toJsonText } from "./values.ts";

export type LoadedColumn = ScratchTable["columns"][number];
type LoadedType = LoadedColumn["type"];

/** `digits` and `decimal` are long numbers: integers, and those with a point. */
type Kind = "boolean" | "text" | "digits" | "decimal" | "integer" | "float" | "json";

const NUMBERS: readonly Kind[] = ["integer", "float"];
const INTEGERS: readonly Kind[] = ["integer", "digits"];
const ALL_NUMBERS: readonly Kind[] = ["integer", "float", "digits", "decimal"];
const TEXTS: readonly Kind[] = ["text", "digits", "decimal"];

/** Scale of a decimal without a known one, to prepare a query with. */
const UNKNOWN_SCALE = 4;

/** The kinds of the values of a column, and the extent of its numbers. */
export interface ValueKinds {
  add(value: unknown): void;
  /** Whether there is no value, or each is of one of these kinds. */
  areAll(kinds: readonly Kind[]): boolean;
  readonly isEmpty: boolean;
  /** The largest integer, without its sign. */
  readonly largest: bigint;
  /** Maximum numbers of digits before and after the point. */
  readonly whole: number;
  readonly scale: number;
}

export function valueKinds(): ValueKinds {
  const seen = new Set<Kind>();
  let largest = 0n;
  let whole = 0;
  let scale = 0;
  return {
    add(value) {
      if (value === null || value === undefined) return;
      const kind = kindOf(value);
      seen.add(kind);
      if (!ALL_NUMBERS.includes(kind)) return;
      const [before = "", after = ""] = decimalText(value as number | string).split(".");
      whole = Math.max(whole, before.replace("-", "").length);
      scale = Math.max(scale, after.length);
      if (!INTEGERS.includes(kind)) return;
      const integer = BigInt(before);
      const size = integer < 0n ? -integer : integer;
      if (size > largest) largest = size;
    },
    areAll: (kinds) => [...seen].every((kind) => kinds.includes(kind)),
    get isEmpty() {
      return seen.size === 0;
    },
    get largest() {
      return largest;
    },
    get whole() {
      return whole;
    },
    get scale() {
      return scale;
    },
  };
}

function kindOf(value: unknown): Kind {
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isSafeInteger(value) ? "integer" : "float";
  // Half of a surrogate pair has no form in UTF-8, but one in JSON.
  if (typeof value !== "string" || !value.isWellFormed()) return "json";
  if (!isLongNumber(value)) return "text";
  return value.includes(".") ? "decimal" : "digits";
}

/** A number without an exponent, and without the zeros at its end that a decimal of DuckDB could have no room for. */
function decimalText(value: number | string): string {
  const text = String(value);
  const isCanonical = !text.includes("e") && !(text.endsWith("0") && text.includes("."));
  return isCanonical ? text : canonicalDigits(value);
}

/**
 * @param where for errors
 * @param declared what the checker knows of the column; undefined where it does not know it
 * @throws StepError input_invalid for a number that DuckDB can't hold
 */
export function loadedColumn(
  where: { table: string; name: string },
  declared: SqlColumn | undefined,
  kinds: ValueKinds,
): LoadedColumn {
  const { name } = where;
  if (kinds.isEmpty) return { name, ...emptyType(declared) };
  if (kinds.areAll(ALL_NUMBERS) && !(declared?.type === "string" && kinds.areAll(TEXTS))) {
    const type = numberType(declared, kinds);
    if (type !== undefined) return { name, ...type };
    if (declared?.sqlNumber !== undefined) throw tooLarge(where);
  }
  return { name, type: inferredType(kinds) };
}

/** The type of a column without values: a query that passed the check on it must run on it. */
function emptyType(declared: SqlColumn | undefined): Omit<LoadedColumn, "name"> {
  if (declared === undefined) return { type: "VARCHAR" };
  if (declared.sqlNumber === "integer") return { type: "BIGINT" };
  if (declared.sqlNumber === "decimal") return { type: "DECIMAL", scale: UNKNOWN_SCALE };
  if (declared.sqlNumber === "float") return { type: "DOUBLE" };
  return { type: DECLARED[declared.type] };
}

const DECLARED: Readonly<Record<SqlColumn["type"], LoadedType>> = {
  string: "VARCHAR",
  number: "DOUBLE",
  boolean: "BOOLEAN",
  any: "JSON",
};

/** A type that holds all values of a column that are no numbers, or too large ones; what mixes kinds is JSON. */
function inferredType(kinds: ValueKinds): LoadedType {
  if (kinds.areAll(["boolean"])) return "BOOLEAN";
  return kinds.areAll(TEXTS) ? "VARCHAR" : "JSON";
}

/** The type in which all digits of numbers are exact; undefined if DuckDB has none. */
function numberType(
  declared: SqlColumn | undefined,
  kinds: ValueKinds,
): Omit<LoadedColumn, "name"> | undefined {
  const { largest, whole, scale } = kinds;
  if (kinds.areAll(NUMBERS)) {
    const isFloat = declared?.sqlNumber !== undefined && declared.sqlNumber !== "integer";
    return { type: isFloat || !kinds.areAll(["integer"]) ? "DOUBLE" : "BIGINT" };
  }
  if (!kinds.areAll(INTEGERS))
    return whole + scale <= MAX_DECIMAL_DIGITS ? { type: "DECIMAL", scale } : undefined;
  if (largest <= MAX_INT64) return { type: "BIGINT" };
  return largest <= MAX_INT128 ? { type: "HUGEINT" } : undefined;
}

const tooLarge = ({ table, name }: { table: string; name: string }): StepError =>
  new StepError(
    "input_invalid",
    `The column ${name} of table ${table} has a number of more than ${MAX_DECIMAL_DIGITS} digits.`,
    { fix: "Cast it to text or to a double in the query that returns it." },
  );

/** Converts a value for its column: large integers are digits, and decimals are digits without the point. */
export function toLoadedValue({ type, scale = 0 }: LoadedColumn, value: unknown): SqlValue {
  switch (type) {
    case "JSON":
      return toJsonText(value);
    case "BIGINT":
    case "HUGEINT":
      return String(value);
    case "DECIMAL": {
      const [before = "", after = ""] = decimalText(value as number | string).split(".");
      return before + after.padEnd(scale, "0");
    }
    default:
      return value as SqlValue;
  }
}
