/** Issues of the inputs of a run in terms of the options that they came from. */
import type { Issue } from "../../schemas/problem.ts";
import { AppError } from "../core/errors.ts";
import { invalidInput } from "../core/issues.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** Maximum length of a value in a message, in characters. */
const MAX_VALUE = 80;

/**
 * Does `work`, and says of each refused input which value was received and which format is expected.
 * @param schema the `inputs` of the workflow; null if it has none, or they can't be read
 * @throws AppError what `work` throws
 */
export async function namingInputs<T>(
  schema: JsonSchema | null,
  inputs: Readonly<Record<string, unknown>>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_input") throw error;
    throw invalidInput((error.details.errors ?? []).map((issue) => explain(issue, schema, inputs)));
  }
}

function explain(issue: Issue, schema: JsonSchema | null, inputs: Readonly<Record<string, unknown>>): Issue {
  const [, name, rest = ""] = /^inputs\.(\w+)(.*)$/s.exec(issue.path) ?? [];
  if (name === undefined) return issue;
  const property = (schema?.["properties"] as Record<string, JsonSchema> | undefined)?.[name];
  // A part of a value is named by its path, and its own format is not that of the whole.
  const expected = property === undefined || rest !== "" ? undefined : expectedFormat(name, property);
  const received =
    rest === "" && name in inputs && !/\bgot\b/.test(issue.message) ? `, got ${shown(inputs[name])}` : "";
  const fix = expected ?? issue.fix;
  return {
    ...issue,
    path: `--input ${name}${rest}`,
    message: `${issue.message}${received}`,
    ...(fix !== undefined && { fix }),
  };
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}…`;
}

/** `Expected an integer from 1 to 100: --input count=3.` */
function expectedFormat(name: string, schema: JsonSchema): string {
  const example = exampleOf(schema);
  const text = typeof example === "string" ? example : JSON.stringify(example);
  const quoted = /^[\w.:@/+-]+$/.test(text) ? text : `'${text}'`;
  return `Expected ${formatOf(schema)}: --input ${name}=${quoted}.`;
}

function formatOf(schema: JsonSchema): string {
  const { type, format, enum: values } = schema;
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (Array.isArray(values)) return `one of ${values.map(String).join(", ")}`;
  const from = minimum === undefined ? "" : ` from ${String(minimum)}`;
  const to = maximum === undefined ? "" : `${from === "" ? " up" : ""} to ${String(maximum)}`;
  switch ([type].flat().find((one) => one !== "null")) {
    case "integer":
      return `an integer${from}${to}`;
    case "number":
      return `a number${from}${to}`;
    case "boolean":
      return "true or false";
    case "array":
      return "a list in JSON";
    case "object":
      return "an object in JSON";
    case "string":
      return format === "date" ? "a date" : format === "date-time" ? "a time with its zone" : "text";
    default:
      return "a value";
  }
}

function exampleOf({ type, format, default: given, examples, enum: values, minimum }: JsonSchema): unknown {
  const listed = [given, ...[examples ?? []].flat(), ...[values ?? []].flat()].find(
    (one) => one !== undefined && one !== null,
  );
  if (listed !== undefined) return listed;
  switch ([type].flat().find((one) => one !== "null")) {
    case "integer":
    case "number":
      return minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return format === "date" ? "2026-01-31" : format === "date-time" ? "2026-01-31T12:00:00Z" : "text";
  }
}
