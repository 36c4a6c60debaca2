/**
 * Reads a value as models write it: JSON text for an object or a list, text for a number or a boolean, one value (of any type but
 * null) for a list of one. A value that its schema may accept as it is stays so.
 */
import type { PartialIssue } from "../connections.ts";
import { isNestedDeeper, MAX_REQUEST_DEPTH, tooDeepIssue } from "../json-nesting.ts";
import { type JsonLoss, scanJson } from "../json-scan.ts";
import { describeLoss } from "../json-text.ts";
import { acceptsType, formMatcher, type Question, readScalar } from "./accepted-types.ts";
import type { JsonSchema } from "./dialect.ts";
import { fieldFacts, type SchemaContext, schemaAt } from "./schema-at.ts";

interface ReadOptions {
  /** Whether null in an optional field stands for a field that is left out, also where the schema accepts null. */
  dropsNull?: boolean;
  /** Names that stand for fields of the schema. */
  otherNames?: ReadonlyMap<string, string>;
  /** Whether such a name stays where the schema allows an undeclared field of this name. */
  keepsAllowed?: boolean;
  /** Maximum number of schemas that are visited; beyond it, the value has an issue, because its rest is not read. */
  maxVisited?: number;
}

/** The value in the form of the schema, and the issues of what in it does not say what it holds. */
export interface ReadValue {
  value: unknown;
  issues: PartialIssue[];
}

type Path = readonly PropertyKey[];

/** Maximum number of schemas that are visited for one value on the event loop. */
const MAX_VISITED = 200_000;
/** The maximum where it may take seconds: enough for a message of 1 MiB and a schema with a few forms. */
export const MAX_VISITED_IN_THREAD = 2_000_000;

interface Reading extends SchemaContext, ReadOptions {
  issues: PartialIssue[];
  known: Map<Question["kind"], Question>;
}

/** @param schema a JSON Schema without issues */
export function readWritten(schema: JsonSchema, value: unknown, options: ReadOptions = {}): ReadValue {
  const { maxVisited = MAX_VISITED, ...others } = options;
  const reading: Reading = { ...others, root: schema, remaining: maxVisited, issues: [], known: new Map() };
  const result = read(schema, value, [], reading);
  const tooLarge = reading.remaining < 0 ? [tooManyFields(maxVisited)] : [];
  return { value: result, issues: [...reading.issues, ...tooLarge] };
}

function read(schema: unknown, value: unknown, path: Path, reading: Reading): unknown {
  if (schema === true || reading.remaining < 0) return value;
  if (typeof value === "string")
    return accepts(schema, "string", reading) ? value : readText(schema, value, path, reading);
  if (Array.isArray(value)) return readList(schema, value, path, reading);
  if (value === null) return value;
  const kind = typeof value as "object" | "number" | "boolean";
  if (accepts(schema, kind, reading))
    return kind === "object" ? readFields(schema, value as object, path, reading) : value;
  const isItem = (kind === "object" || !isInList(path)) && isItemOf(schema, kind, reading);
  return isItem ? readList(schema, [value], path, reading) : value;
}

const KINDS = ["string", "number", "boolean", "object", "array", "null"] as const;

/** Numbers in a list may be one row as well as one of each row. */
const isInList = (path: Path): boolean => typeof path.at(-1) === "number";

/** Whether a schema takes lists of values of a type. */
const isItemOf = (schema: unknown, kind: Question["kind"], reading: Reading): boolean =>
  accepts(schema, "array", reading) && accepts(itemOf(schema, reading), kind, reading);

function accepts(schema: unknown, kind: Question["kind"], reading: Reading): boolean {
  const question = reading.known.get(kind) ?? { kind, root: reading.root, known: new Map() };
  reading.known.set(kind, question);
  const before = question.known.size;
  const accepted = acceptsType(schema, question);
  reading.remaining -= question.known.size - before;
  return accepted;
}

const itemOf = (schema: unknown, reading: Reading): unknown =>
  schemaAt(schema, 0, formMatcher([], reading.root), reading);

function readText(schema: unknown, text: string, path: Path, reading: Reading): unknown {
  const scalar = readScalar(text);
  const kind = typeof scalar === "boolean" ? "boolean" : "number";
  if (scalar !== undefined && accepts(schema, kind, reading)) return scalar;
  const [list, object] = [accepts(schema, "array", reading), accepts(schema, "object", reading)];
  if (!list && !object) return text;
  if (isContainer(text)) {
    if (isNestedDeeper(text, MAX_REQUEST_DEPTH)) {
      reading.issues.push({ ...tooDeepIssue(""), path: [...path] });
      return text;
    }
    const parsed = parseContainer(text);
    if (parsed !== undefined && (Array.isArray(parsed.value) ? list : object)) {
      for (const loss of parsed.losses)
        reading.issues.push({ ...describeLoss(loss), path: [...path, ...loss.path] });
      return read(schema, parsed.value, path, reading);
    }
  }
  // With a comma it may be several values, which the caller must tell apart.
  if (list && /^[^,;[{]+$/.test(text) && isItemOf(schema, "string", reading)) return [text];
  return scalar !== undefined && !isInList(path) && isItemOf(schema, kind, reading) ? [scalar] : text;
}

function readList(schema: unknown, items: readonly unknown[], path: Path, reading: Reading): unknown {
  if (!accepts(schema, "array", reading))
    return items.length === 1 && typeof items[0] === "string" && accepts(schema, "string", reading)
      ? items[0]
      : items;
  const canMatch = formMatcher(items, reading.root);
  return items.map((item, index) =>
    typeof item === "string" || (typeof item === "object" && item !== null)
      ? read(schemaAt(schema, index, canMatch, reading), item, [...path, index], reading)
      : item,
  );
}

function readFields(schema: unknown, value: object, path: Path, reading: Reading): Record<string, unknown> {
  const canMatch = formMatcher(withOtherNames(value, reading), reading.root, { asWritten: true });
  const factsOf = (name: string) => fieldFacts(schema, name, canMatch, reading);
  /** The name of a field in the schema, where the written one stands for it. */
  const nameOf = (written: string): string => {
    const name = reading.otherNames?.get(written);
    if (name === undefined || factsOf(written).declared || !factsOf(name).declared) return written;
    return reading.keepsAllowed === true && isAllowed(written) ? written : name;
  };
  /** The root of inputs allows no undeclared field unless it says so (`inputsValidator`). */
  const isAllowed = (written: string): boolean => {
    if (path.length === 0 && !factsOf(written).decides) return false;
    const allowed = schemaAt(schema, written, canMatch, reading);
    return KINDS.some((kind) => accepts(allowed, kind, reading));
  };
  const isOptional = (name: string): boolean => {
    const { declared, required } = factsOf(name);
    return declared && !required;
  };
  const fields: [string, unknown][] = [];
  for (const [written, field] of Object.entries(value) as [string, unknown][]) {
    const name = nameOf(written);
    const at = [...path, written];
    if (name !== written && Object.hasOwn(value, name)) reading.issues.push(givenTwice(at, name));
    if (field === null && reading.dropsNull === true && isOptional(name)) continue;
    fields.push([name, read(schemaAt(schema, name, canMatch, reading), field, at, reading)]);
  }
  return Object.fromEntries(fields);
}

/** The object with its fields also under the names that they may stand for: the constants of forms are those of these names. */
function withOtherNames(value: object, { otherNames }: Reading): object {
  if (otherNames === undefined) return value;
  const others = Object.entries(value).flatMap(([written, field]: [string, unknown]) => {
    const name = otherNames.get(written);
    return name === undefined || Object.hasOwn(value, name) ? [] : [[name, field] as const];
  });
  return others.length === 0 ? value : { ...value, ...Object.fromEntries(others) };
}

const givenTwice = (path: PropertyKey[], name: string): PartialIssue => ({
  path,
  code: "not_allowed",
  message: `stands for ${name}, which is given too`,
  fix: "Send one of them.",
});

const tooManyFields = (maxVisited: number): PartialIssue => ({
  path: [],
  code: "too_large",
  message: `has too many fields: to read them by the schema takes more than ${maxVisited} steps`,
  fix: "Send fewer items.",
});

/** Whether a text begins as JSON of an object or a list. */
export const isContainer = (text: string): boolean => /^\s*[[{]/.test(text);

/** The object or list that a text holds, with its long numbers as text; undefined for any other text. */
function parseContainer(text: string): { value: unknown; losses: JsonLoss[] } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const { losses, exact } = scanJson(text, { keys: true });
    return { value: exact === text ? value : JSON.parse(exact), losses };
  } catch {
    return undefined;
  }
}
