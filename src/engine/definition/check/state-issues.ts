/** Checks the top-level fields `state` and `commit`. */
import {
  type JsonSchema,
  schemaIssues,
  shapeOfSchema,
  templateValueIssues,
  valueIssues,
} from "../../../core/json-schema/index.ts";
import { ANY, objectOf, type Shape } from "../../../core/shapes.ts";
import { stateIssues, stateValues, unknownStateKey } from "../../../core/workflow-state.ts";
import { checkValueAsync } from "../expressions/index.ts";
import type { TypeScope } from "../expressions/types.ts";
import { type LocatedIssue, prefixPath } from "./check-report.ts";

export interface CheckedState {
  issues: LocatedIssue[];
  /** The shape of `state` in expressions; undefined if the definition declares none. */
  shape: Shape | undefined;
  /** The defaults of the keys without issues. */
  defaults: Record<string, unknown>;
  /** The schema of each key; undefined for one with issues. */
  schemas: ReadonlyMap<string, JsonSchema | undefined>;
}

/** @param state the `state` of the definition, of any type */
export function checkState(state: unknown): CheckedState {
  const schemas = new Map<string, JsonSchema | undefined>();
  if (state === undefined) return { issues: [], shape: undefined, defaults: {}, schemas };
  // The schema of the definition reports this.
  if (!isObject(state)) return { issues: [], shape: ANY, defaults: {}, schemas };
  const issues: LocatedIssue[] = [];
  for (const [key, schema] of Object.entries(state)) {
    const found = isObject(schema) ? declarationIssues(schema) : [];
    issues.push(...found.map((issue) => prefixPath(["state", key], issue)));
    schemas.set(key, isObject(schema) && found.length === 0 ? schema : undefined);
  }
  const valid = Object.fromEntries([...schemas].filter(([, schema]) => schema !== undefined)) as Record<
    string,
    JsonSchema
  >;
  const defaults = stateValues(valid, {});
  const tooLarge = stateIssues(valid, defaults).filter(({ code }) => code === "too_large");
  issues.push(...tooLarge.map((issue) => prefixPath(["state"], issue)));
  const fields = [...schemas].map(([key, schema]) => [
    key,
    schema === undefined ? ANY : shapeOfSchema(schema),
  ]);
  return { issues, shape: objectOf(Object.fromEntries(fields)), defaults, schemas };
}

function declarationIssues(schema: JsonSchema): LocatedIssue[] {
  const found = schemaIssues(schema).map((issue) => prefixPath([], issue));
  if (found.length > 0) return found;
  if (!Object.hasOwn(schema, "default"))
    return [
      {
        path: ["default"],
        code: "missing",
        message: "is required: the first run reads it",
        fix: `Add a value that matches the schema, such as default: ${exampleDefault(schema)}.`,
      },
    ];
  return valueIssues(schema, schema["default"]).map((issue) => prefixPath(["default"], issue));
}

const DEFAULTS: Readonly<Record<string, string>> = {
  integer: "0",
  number: "0",
  string: '""',
  boolean: "false",
  array: "[]",
  object: "{}",
};

const exampleDefault = ({ type }: JsonSchema): string =>
  (typeof type === "string" ? DEFAULTS[type] : undefined) ?? "null";

/**
 * @param commit the `commit` of the definition, of any type
 * @param scope what it can read: the same as `output`
 */
export async function commitIssues(
  commit: unknown,
  { shape, schemas }: CheckedState,
  scope: TypeScope,
  yieldToEventLoop: () => Promise<void>,
): Promise<LocatedIssue[]> {
  if (!isObject(commit)) return [];
  if (shape === undefined) return [undeclared(Object.keys(commit))];
  // The issue of a `state` that is no object is reported alone.
  if (shape.kind !== "object") return [];
  const issues: LocatedIssue[] = [];
  for (const [key, value] of Object.entries(commit)) {
    const path = ["commit", key];
    if (!schemas.has(key)) issues.push(prefixPath(path, unknownStateKey(key, [...schemas.keys()])));
    const checked = await checkValueAsync(value, scope, yieldToEventLoop);
    const found =
      checked.issues.length > 0 ? checked.issues : valueFits(schemas.get(key), value, checked.shape);
    issues.push(...found.map((issue) => prefixPath(path, issue)));
  }
  return issues;
}

const valueFits = (schema: JsonSchema | undefined, value: unknown, actual: Shape) =>
  schema === undefined ? [] : templateValueIssues(schema, value, actual);

const undeclared = (keys: readonly string[]): LocatedIssue => ({
  path: ["commit"],
  code: "not_allowed",
  message: "needs state, which declares the keys that it writes",
  fix: `Add state: { ${keys[0] ?? "last_id"}: { type: …, default: … } }.`,
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
