/** Patches of a definition: a list of operations on steps, of which all or none are applied. */
import { z } from "zod";
import type { Issue } from "../../schemas/problem.ts";
import { checkJsonValue, text } from "../../schemas/text.ts";
import { MAX_STEPS } from "../../schemas/workflow-definition.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import { idOf, type Step, stepsOf, unknownStep } from "./definition-steps.ts";

const Ref = text(64, 1);
const Fields = z.record(z.string(), z.unknown()).check(checkJsonValue);

/** Required and optional fields of each operation. */
const OPERATIONS = {
  add_step: { required: ["step"], optional: ["after", "before"] },
  update_step: { required: ["id"], optional: ["set", "unset"] },
  remove_step: { required: ["id"], optional: [] },
  move_step: { required: ["id"], optional: ["after", "before"] },
  rename_step: { required: ["id", "to"], optional: [] },
  update_top: { required: [], optional: ["set", "unset"] },
} as const satisfies Record<string, { required: readonly string[]; optional: readonly string[] }>;

const Operation = z.strictObject({
  op: z.enum(Object.keys(OPERATIONS) as [keyof typeof OPERATIONS, ...(keyof typeof OPERATIONS)[]]),
  id: Ref.optional(),
  step: Fields.optional(),
  set: Fields.optional(),
  unset: z.array(text(200, 1)).min(1).max(100).optional(),
  after: Ref.optional(),
  before: Ref.optional(),
  to: Ref.optional(),
});
type Operation = z.output<typeof Operation>;

export const Patch = z
  .array(Operation)
  .min(1)
  .max(200)
  .superRefine(
    (patch: readonly unknown[], ctx) => {
      for (const [index, operation] of patch.entries())
        for (const { path, message, ...params } of isNamed(operation) ? fieldIssues(operation) : [])
          ctx.addIssue({ code: "custom", path: [index, path], message, params });
    },
    // Otherwise `applyPatch` reports them, with what it finds in the definition.
    { when: ({ value, issues }) => Array.isArray(value) && issues.length > 0 },
  )
  .meta({
    description:
      "Changes to the definition, in order, all or none. add_step: step, and after or before (an id; default: last). " +
      "update_step: id, set (fields to replace), unset (names). remove_step: id. move_step: id, after or before. " +
      "rename_step: id, to (references are updated). update_top: set and unset other top-level fields.",
    example: [{ op: "update_step", id: "revenue", set: { database: "shop" } }],
  });
export type Patch = z.output<typeof Patch>;

type Definition = Record<string, unknown>;

/** The issues of one operation; `applyPatch` collects those of all operations. */
class OperationError extends Error {
  readonly issues: Issue[];
  constructor(...issues: Issue[]) {
    super("The operation is not valid");
    this.issues = issues;
  }
}

/**
 * Applies all operations to a definition.
 * @returns the changed definition
 * @throws AppError invalid_input with the issues of all operations (`patch[2].id`)
 */
export function applyPatch(definition: Definition | null, patch: Patch): Definition {
  let changed = definition ?? { steps: [] };
  const issues: Issue[] = [];
  for (const [index, operation] of patch.entries()) {
    try {
      changed = applyOperation(changed, operation);
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      for (const issue of error.issues) issues.push({ ...issue, path: `patch[${index}].${issue.path}` });
    }
  }
  if (issues.length > 0) throw invalidInput(issues);
  return changed;
}

function applyOperation(definition: Definition, operation: Operation): Definition {
  const found = fieldIssues(operation);
  if (found.length > 0) throw new OperationError(...found);
  const steps = stepsOf(definition);
  const { id = "", to = "" } = operation;
  switch (operation.op) {
    case "add_step": {
      const step = newStep(steps, operation.step!);
      return { ...definition, steps: insertStep(steps, step, operation, steps.length) };
    }
    case "update_step": {
      const position = findIndex(steps, id, "id");
      if (operation.set !== undefined && Object.hasOwn(operation.set, "id") && operation.set["id"] !== id) {
        throw new OperationError({
          path: "set.id",
          code: "not_allowed",
          message: "can't be changed with update_step",
          fix: `Use {"op": "rename_step", "id": "${id}", "to": …}, which also updates references.`,
        });
      }
      return {
        ...definition,
        steps: steps.with(position, withFields(steps[position]!, operation, ["id", "type"])),
      };
    }
    case "remove_step":
      return { ...definition, steps: steps.toSpliced(findIndex(steps, id, "id"), 1) };
    case "move_step": {
      const position = findIndex(steps, id, "id");
      if ((operation.after ?? operation.before) === id) {
        const path = operation.after === undefined ? "before" : "after";
        throw new OperationError({ path, code: "not_allowed", message: "is the step itself" });
      }
      return {
        ...definition,
        steps: insertStep(steps.toSpliced(position, 1), steps[position]!, operation, 0),
      };
    }
    case "rename_step": {
      const position = findIndex(steps, id, "id");
      if (to !== id) refuseDuplicate(steps, to, "to");
      return renameReferences(
        { ...definition, steps: steps.with(position, { ...steps[position], id: to }) },
        id,
        to,
      );
    }
    case "update_top": {
      if (operation.set !== undefined && Object.hasOwn(operation.set, "steps")) {
        throw new OperationError({
          path: "set.steps",
          code: "not_allowed",
          message: "can't be changed with update_top",
          fix: "Use add_step, update_step and remove_step, or send the whole definition instead of a patch.",
        });
      }
      return withFields(definition, operation, ["steps"]);
    }
  }
}

/** Whether a value is an operation whose fields are known. */
const isNamed = (value: unknown): value is Operation =>
  typeof value === "object" &&
  value !== null &&
  Object.hasOwn(OPERATIONS, String((value as Partial<Operation>).op));

/** The issues of missing fields, and of fields that the operation does not have. */
function fieldIssues(operation: Operation): Issue[] {
  const { op, ...fields } = operation;
  const { required, optional }: { required: readonly string[]; optional: readonly string[] } = OPERATIONS[op];
  const present = Object.keys(fields).filter((field) => fields[field as keyof typeof fields] !== undefined);
  const missing = required.filter((field) => !present.includes(field));
  const issues: Issue[] = [
    ...missing.map((path) => ({ path, code: "missing", message: `is missing: ${op} needs it` })),
    ...present
      .filter((field) => ![...required, ...optional].includes(field))
      .map((path) => ({
        path,
        code: "not_allowed",
        message: `does not belong to ${op}`,
        allowed: ["op", ...required, ...optional],
      })),
  ];
  if (fields.after !== undefined && fields.before !== undefined) {
    issues.push({
      path: "before",
      code: "not_allowed",
      message: "can't be combined with after",
      fix: "Send one of them.",
    });
  }
  const oneOf = op === "move_step" ? ["after", "before"] : optional.includes("set") ? ["set", "unset"] : [];
  if (oneOf.length > 0 && !oneOf.some((field) => present.includes(field))) {
    issues.push({
      path: oneOf[0]!,
      code: "missing",
      message: `is missing: ${op} needs ${oneOf.join(" or ")}`,
    });
  }
  return issues;
}

/** @throws OperationError unknown_step */
function findIndex(steps: readonly Step[], id: string, path: string): number {
  const index = steps.findIndex((step) => idOf(step) === id);
  if (index >= 0) return index;
  throw new OperationError(unknownStep(steps, id, path));
}

function newStep(steps: readonly Step[], step: Step): Step {
  const id = idOf(step);
  if (typeof id !== "string") {
    throw new OperationError({
      path: "step.id",
      code: "missing",
      message: "is missing: each step needs an id",
    });
  }
  refuseDuplicate(steps, id, "step.id");
  if (steps.length >= MAX_STEPS) {
    throw new OperationError({
      path: "step",
      code: "too_long",
      message: `is one too many: a workflow has at most ${MAX_STEPS} steps`,
    });
  }
  return step;
}

function refuseDuplicate(steps: readonly Step[], id: string, path: string): void {
  if (!steps.some((step) => idOf(step) === id)) return;
  throw new OperationError({
    path,
    code: "duplicate",
    message: `is taken: there is already a step "${id}"`,
    fix: "Choose another id; update_step changes the existing step.",
  });
}

function insertStep(steps: Step[], step: Step, { after, before }: Operation, defaultIndex: number): Step[] {
  if (after !== undefined) return steps.toSpliced(findIndex(steps, after, "after") + 1, 0, step);
  return steps.toSpliced(before === undefined ? defaultIndex : findIndex(steps, before, "before"), 0, step);
}

function withFields(
  target: Record<string, unknown>,
  { set = {}, unset = [] }: Operation,
  fixed: readonly string[],
): Record<string, unknown> {
  const changed = { ...target, ...set };
  const issues: OperationError["issues"] = [];
  for (const [index, field] of unset.entries()) {
    if (fixed.includes(field)) {
      issues.push({ path: `unset[${index}]`, code: "not_allowed", message: `${field} can't be removed` });
    } else if (Object.hasOwn(changed, field)) {
      delete changed[field];
    } else {
      const near = nearMatch(field, Object.keys(target));
      issues.push({
        path: `unset[${index}]`,
        code: "unknown_key",
        message: `names no field: there is no "${field}"`,
        allowed: Object.keys(target).slice(0, 100),
        ...(near !== undefined && { did_you_mean: near }),
      });
    }
  }
  if (issues.length > 0) throw new OperationError(...issues);
  return changed;
}

/** Replaces references to a step's old id, except in queries, where `steps` is the name of a table. */
function renameReferences(definition: Definition, from: string, to: string): Definition {
  const name = from.replaceAll(/\W/g, String.raw`\$&`);
  const references = new RegExp(String.raw`(?<![\w.])steps(\.${name}(?!\w)|\[(["'])${name}\2\])`, "g");
  const walk = (value: unknown, key?: string): unknown => {
    if (typeof value === "string")
      return key === "query" ? value : value.replaceAll(references, `steps.${to}`);
    if (Array.isArray(value)) {
      return value.map((item: unknown) => (key === "needs" && item === from ? to : walk(item)));
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name_, inner]) => [name_, walk(inner, name_)]));
  };
  return walk(definition) as Definition;
}
