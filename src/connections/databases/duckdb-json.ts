/** Converts values of DuckDB to plain JSON, by their types: those of items and fields too. (Child processes load this file.) */
import {
  DuckDBArrayType,
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  DuckDBUnionType,
  DuckDBUnionValue,
  type DuckDBValue,
  DuckDBVariantValue,
} from "@duckdb/node-api";
import {
  bytesToBase64,
  decimalToJson,
  floatToJson,
  integerToJson,
  parseJsonText,
  singleToJson,
  toIsoTimestamp,
} from "./values.ts";

export const isJson = (type: DuckDBType): boolean => type.alias === "JSON";

/** @param type the type of the value; undefined where it is not known */
export function duckdbToJson(value: DuckDBValue, type: DuckDBType | undefined): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return type !== undefined && isJson(type) ? parseJsonText(value) : value;
  if (typeof value === "number")
    return type?.typeId === DuckDBTypeId.FLOAT ? singleToJson(value) : floatToJson(value);
  if (typeof value === "bigint") return integerToJson(value);
  if (value instanceof DuckDBDecimalValue) return decimalToJson(value.toString());
  if (value instanceof DuckDBBlobValue) return bytesToBase64(value.bytes);
  const nested = nestedToJson(value, type);
  // The member of a union can be null.
  return nested === undefined ? timeToJson(value) : nested;
}

/** Undefined for a value that has no others in it. */
function nestedToJson(value: DuckDBValue, type: DuckDBType | undefined): unknown {
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) {
    const item =
      type instanceof DuckDBListType || type instanceof DuckDBArrayType ? type.valueType : undefined;
    return value.items.map((each) => duckdbToJson(each, item));
  }
  if (value instanceof DuckDBStructValue) {
    const types = type instanceof DuckDBStructType ? type : undefined;
    return Object.fromEntries(
      Object.entries(value.entries).map(([key, item]) => [key, duckdbToJson(item, types?.typeForEntry(key))]),
    );
  }
  if (value instanceof DuckDBMapValue) {
    const types = type instanceof DuckDBMapType ? type : undefined;
    return value.entries.map(({ key, value: item }) => ({
      key: duckdbToJson(key, types?.keyType),
      value: duckdbToJson(item, types?.valueType),
    }));
  }
  if (value instanceof DuckDBUnionValue)
    return duckdbToJson(
      value.value,
      type instanceof DuckDBUnionType ? type.memberTypeForTag(value.tag) : undefined,
    );
  // Each value of this type says its own.
  return value instanceof DuckDBVariantValue ? duckdbToJson(value.value, value.type) : undefined;
}

/** Times whose largest and smallest values mean infinity. The library writes these as a date, except of two types. */
const ENDLESS = [
  DuckDBDateValue,
  DuckDBTimestampValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
] as const;

function timeToJson(value: DuckDBValue): string {
  const text = String(value);
  const endless = ENDLESS.find((type) => value instanceof type);
  if (endless === undefined) return text;
  if (!(value as DuckDBDateValue).isFinite) return text === String(endless.NegInf) ? "-infinity" : "infinity";
  if (value instanceof DuckDBTimestampTZValue) return isoUtc(value);
  // The library writes 1 BC, before which there is no year 0, as 0000; DuckDB does not.
  return toIsoTimestamp(text.replace(/^0000(-\d\d-\d\d)/, "0001$1 (BC)"));
}

/** In UTC, to the microsecond where it says more than milliseconds. */
function isoUtc(value: DuckDBTimestampTZValue): string {
  // A remainder of a negative number is negative: the microseconds count from the millisecond before.
  const rest = ((value.micros % 1_000n) + 1_000n) % 1_000n;
  const date = new Date(Number((value.micros - rest) / 1_000n));
  if (Number.isNaN(date.getTime())) return value.toString();
  return rest === 0n
    ? date.toISOString()
    : date.toISOString().replace("Z", `${String(rest).padStart(3, "0")}Z`);
}

/** The names of the fields that a row can't hold: JSON objects have each name once, and the library loses `__proto__`. */
export function lostFields(type: DuckDBType): readonly string[] {
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) return lostFields(type.valueType);
  if (type instanceof DuckDBMapType) return [...lostFields(type.keyType), ...lostFields(type.valueType)];
  if (type instanceof DuckDBUnionType) return type.memberTypes.flatMap(lostFields);
  if (!(type instanceof DuckDBStructType)) return [];
  const names = type.entryNames;
  return [
    ...names.filter((name, index) => name === "__proto__" || names.indexOf(name) < index),
    ...type.entryTypes.flatMap(lostFields),
  ];
}
