/** Parses the fields of a step after their expressions are evaluated. */
import { z } from "zod";
import type { Issue } from "../../../schemas/problem.ts";
import { locatedIssues } from "../../core/issues.ts";
import { StepError } from "../../core/step-errors.ts";
import type { AnyStepType, Field } from "../../core/step-type.ts";

interface InputSchema {
  schema: z.ZodObject;
  /** Names of the fields that null leaves out: they are optional, and null is not a value of theirs. */
  omittedByNull: ReadonlySet<string>;
}

const inputSchemas = new WeakMap<AnyStepType, InputSchema>();

function inputSchema(type: AnyStepType): InputSchema {
  const known = inputSchemas.get(type);
  if (known !== undefined) return known;
  const fields = Object.entries(type.fields as Readonly<Record<string, Field>>);
  const omitted = fields.filter(
    ([, { schema }]) => schema.safeParse(undefined).success && !schema.safeParse(null).success,
  );
  const made: InputSchema = {
    schema: z.object(Object.fromEntries(fields.map(([name, { schema }]) => [name, schema]))),
    omittedByNull: new Set(omitted.map(([name]) => name)),
  };
  inputSchemas.set(type, made);
  return made;
}

/** Returns the fields of a step with defaults, from their values. @throws StepError input_invalid */
export function parseInput(
  { type }: { type: AnyStepType },
  resolved: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { schema, omittedByNull } = inputSchema(type);
  const present = Object.fromEntries(
    Object.entries(resolved).filter(([name, value]) => value !== null || !omittedByNull.has(name)),
  );
  const parsed = schema.safeParse(present, { reportInput: true });
  if (parsed.success) return parsed.data;
  const located = locatedIssues(parsed.error, schema);
  const issues = located.map(({ path, issue }) => withFix(issue, valueAt(present, path)));
  const firstIssues = issues.slice(0, 3).map(({ path, message }) => `${path} ${message}`);
  const fix = issues[0]?.fix;
  throw new StepError("input_invalid", `${firstIssues.join("; ")}.`, {
    ...(fix !== undefined && { fix }),
    details: { errors: issues.slice(0, 20) },
  });
}

const valueAt = (fields: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, part) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, part)
        ? (value as Readonly<Record<PropertyKey, unknown>>)[part]
        : undefined,
    fields,
  );

/** Adds what to do about a value that is wrong, where its issue does not say it: null is the result of an expression. */
const withFix = (issue: Issue, value: unknown): Issue =>
  value !== null || issue.fix !== undefined
    ? issue
    : { ...issue, fix: "Write a default for null in the expression, such as ${{ … ?? '' }}." };
