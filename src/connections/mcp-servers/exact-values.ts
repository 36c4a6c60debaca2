/** Compares the structured content of results with the schemas of their tools. */
import type { Client } from "@modelcontextprotocol/client";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { compareNumbers } from "../../core/long-number-arithmetic.ts";
import { isLongNumber } from "../../../schemas/long-numbers.ts";

type Validator = NonNullable<NonNullable<ConstructorParameters<typeof Client>[1]>["jsonSchemaValidator"]>;
export type OutputSchema = Parameters<Validator["getValidator"]>[0];

/** Structured content of a result. */
interface StructuredContent {
  /** With long numbers as text. */
  exact: unknown;
  /** With the nearest doubles instead, if it also has texts that resemble long numbers. */
  rounded?: unknown;
}

/** JSON with the nearest double for each long number, and for infinity, which a parser makes of a number that is too large. */
export function nearestDoubles(value: unknown, isNumber: (value: unknown) => boolean = () => false): unknown {
  if (typeof value === "number" || isNumber(value))
    return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(value)));
  if (Array.isArray(value)) return value.map((inner) => nearestDoubles(inner, isNumber));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, nearestDoubles(inner, isNumber)]),
  );
}

/** Returns why structured content does not match the schema of its tool; undefined if it does. */
export type OutputCheck = (content: StructuredContent) => string | undefined;

/**
 * Compiles the schema of a tool's results. A number that a double can't hold matches as one of the doubles around it: the server has
 * compared the number itself. A schema that can't be compiled accepts everything.
 */
export function outputCheck(schema: OutputSchema): OutputCheck {
  const validate = compile(schema);
  return ({ exact, rounded = nearestDoubles(exact, isLongNumber) }) => {
    const first = validate(rounded);
    if (first.valid) return undefined;
    const neighbours = [-1, 1].map((side) => neighbourOf(exact, rounded, side));
    return neighbours.some((value) => validate(value).valid) ? undefined : first.errorMessage;
  };
}

function compile(schema: OutputSchema): ReturnType<Validator["getValidator"]> {
  try {
    // Each schema gets a validator of its own: it would take another schema with the same $id for the one that it knows.
    return new AjvJsonSchemaValidator().getValidator(schema);
  } catch {
    return (data) => ({ valid: true, data, errorMessage: undefined });
  }
}

/** The double below or above each long number, where the nearest one is on the other side. */
function neighbourOf(exact: unknown, rounded: unknown, side: number): unknown {
  if (typeof rounded === "number")
    return isLongNumber(exact) && compareNumbers(exact, rounded) === side ? next(rounded, side) : rounded;
  if (typeof rounded !== "object" || rounded === null) return rounded;
  const inner = exact as Readonly<Record<string, unknown>>;
  const entries = Object.entries(rounded).map(([key, value]: [string, unknown]) => [
    key,
    neighbourOf(inner[key], value, side),
  ]);
  return Array.isArray(rounded) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

/** The next double in a direction. */
function next(value: number, side: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const away = Math.sign(value) === side ? 1n : -1n;
  view.setBigInt64(0, view.getBigInt64(0) + away);
  const found = view.getFloat64(0);
  return Number.isFinite(found) ? found : value;
}
