/** Changing a definition by step id: a list of operations, all of them or none. */
import { z } from "zod";
import type { Issue } from "../../schemas/problem.ts";
import { containsInfinity, exceedsDepth, MAX_JSON_DEPTH, text } from "../../schemas/text.ts";
import { MAX_STEPS } from "../../schemas/workflow-definition.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { nearMatch } from "../../src/core/near-match.ts";

const Ref = text(64, 1);
const Fields = z
  .record(z.string(), z.unknown())
  .refine((value) => !exceedsDepth(value, MAX_JSON_DEPTH), {
    message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { code: "too_deep" },
  })
  .refine((value) => !containsInfinity(value), {
    message: "must not hold a number that JSON can't write",
    params: { code: "not_finite" },
  });

/** What each operation must have, and what it may have beside. */
const OPERATIONS = {
  add_step: { needs: ["step"], takes: ["after", "before"] },
  update_step: { needs: ["id"], takes: ["set", "unset"] },
  remove_step: { needs: ["id"], takes: [] },
  move_step: { needs: ["id"], takes: ["after", "before"] },
  rename_step: { needs: ["id", "to"], takes: [] },
  update_top: { needs: [], takes: ["set", "unset"] },
} as const satisfies Record<string, { needs: readonly string[]; takes: readonly string[] }>;

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
  .meta({
    description:
      "Changes to the definition, in order, all or none. add_step: step, and after or before (an id; else last). " +
      "update_step: id, set (fields to replace), unset (names). remove_step: id. move_step: id, after or before. " +
      "rename_step: id, to (references follow). update_top: set and unset fields beside steps.",
    example: [{ op: "update_step", id: "revenue", set: { database: "shop" } }],
  });
export type Patch = z.output<typeof Patch>;

type Step = Record<string, unknown>;
type Definition = Record<string, unknown>;

/** A fault below the operation; thrown inside one, collected over all. */
class Refused extends Error {
  readonly issues: Issue[];
  constructor(...issues: Issue[]) {
    super("refused");
    this.issues = issues;
  }
}

/**
 * The definition with all operations applied.
 * @throws AppError invalid_input with the faults of all operations (`patch[2].id`); then nothing counts
 */
export function applyPatch(definition: Definition | null, patch: Patch): Definition {
  let changed = definition ?? { steps: [] };
  const issues: Issue[] = [];
  for (const [index, operation] of patch.entries()) {
    try {
      changed = applied(changed, operation);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      for (const issue of error.issues) issues.push({ ...issue, path: `patch[${index}].${issue.path}` });
    }
  }
  if (issues.length > 0) throw invalidInput(issues);
  return changed;
}

function applied(definition: Definition, operation: Operation): Definition {
  refuseMisfits(operation);
  const steps = stepsOf(definition);
  const { id = "", to = "" } = operation;
  switch (operation.op) {
    case "add_step": {
      const step = newStep(steps, operation.step!);
      return { ...definition, steps: inserted(steps, step, operation, steps.length) };
    }
    case "update_step": {
      const at = find(steps, id, "id");
      if (operation.set !== undefined && Object.hasOwn(operation.set, "id") && operation.set["id"] !== id) {
        throw new Refused({
          path: "set.id",
          code: "not_allowed",
          message: "can't be changed here",
          fix: `Use {"op": "rename_step", "id": "${id}", "to": …}: references follow.`,
        });
      }
      return { ...definition, steps: steps.with(at, withFields(steps[at]!, operation, ["id", "type"])) };
    }
    case "remove_step":
      return { ...definition, steps: steps.toSpliced(find(steps, id, "id"), 1) };
    case "move_step": {
      const at = find(steps, id, "id");
      if ((operation.after ?? operation.before) === id) {
        const path = operation.after === undefined ? "before" : "after";
        throw new Refused({ path, code: "not_allowed", message: "is the step itself" });
      }
      return { ...definition, steps: inserted(steps.toSpliced(at, 1), steps[at]!, operation, 0) };
    }
    case "rename_step": {
      const at = find(steps, id, "id");
      if (to !== id) refuseDuplicate(steps, to, "to");
      return renamed({ ...definition, steps: steps.with(at, { ...steps[at], id: to }) }, id, to);
    }
    case "update_top": {
      if (operation.set !== undefined && Object.hasOwn(operation.set, "steps")) {
        throw new Refused({
          path: "set.steps",
          code: "not_allowed",
          message: "are changed one by one here",
          fix: "Use add_step, update_step, remove_step; or give the whole definition in place of patch.",
        });
      }
      return withFields(definition, operation, ["steps"]);
    }
  }
}

/** What is missing from an operation, and what does not belong to it. */
function refuseMisfits(operation: Operation): void {
  const { op, ...given } = operation;
  const { needs, takes }: { needs: readonly string[]; takes: readonly string[] } = OPERATIONS[op];
  const present = Object.keys(given).filter((field) => given[field as keyof typeof given] !== undefined);
  const missing = needs.filter((field) => !present.includes(field));
  const issues = [
    ...missing.map((path) => ({ path, code: "missing", message: `is missing: ${op} needs it` })),
    ...present
      .filter((field) => ![...needs, ...takes].includes(field))
      .map((path) => ({
        path,
        code: "not_allowed",
        message: `does not belong to ${op}`,
        allowed: ["op", ...needs, ...takes],
      })),
  ];
  if (given.after !== undefined && given.before !== undefined) {
    issues.push({ path: "before", code: "not_allowed", message: "can't stand beside after: give one" });
  }
  const oneOf = op === "move_step" ? ["after", "before"] : takes.includes("set") ? ["set", "unset"] : [];
  if (oneOf.length > 0 && !oneOf.some((field) => present.includes(field))) {
    issues.push({
      path: oneOf[0]!,
      code: "missing",
      message: `is missing: ${op} needs ${oneOf.join(" or ")}`,
    });
  }
  if (issues.length > 0) throw new Refused(...issues);
}

const stepsOf = ({ steps }: Definition): Step[] => (Array.isArray(steps) ? (steps as Step[]) : []);
const idOf = (step: Step | null): unknown => step?.["id"];

function find(steps: readonly Step[], id: string, path: string): number {
  const at = steps.findIndex((step) => idOf(step) === id);
  if (at >= 0) return at;
  const ids = steps.map(idOf).filter((known) => typeof known === "string");
  const near = nearMatch(id, ids);
  throw new Refused({
    path,
    code: "unknown_step",
    message: `there is no step "${id}"`,
    allowed: ids.slice(0, 100),
    ...(near !== undefined && { did_you_mean: near, fix: `Write ${near}.` }),
  });
}

function newStep(steps: readonly Step[], step: Step): Step {
  const id = idOf(step);
  if (typeof id !== "string") {
    throw new Refused({ path: "step.id", code: "missing", message: "is missing: each step has a name" });
  }
  refuseDuplicate(steps, id, "step.id");
  if (steps.length >= MAX_STEPS) {
    throw new Refused({ path: "step", code: "too_long", message: `there are ${MAX_STEPS} steps already` });
  }
  return step;
}

function refuseDuplicate(steps: readonly Step[], id: string, path: string): void {
  if (!steps.some((step) => idOf(step) === id)) return;
  throw new Refused({
    path,
    code: "duplicate",
    message: `there is a step "${id}" already`,
    fix: `Choose another name; update_step changes the one that is there.`,
  });
}

function inserted(steps: Step[], step: Step, { after, before }: Operation, otherwise: number): Step[] {
  if (after !== undefined) return steps.toSpliced(find(steps, after, "after") + 1, 0, step);
  return steps.toSpliced(before === undefined ? otherwise : find(steps, before, "before"), 0, step);
}

function withFields(
  target: Record<string, unknown>,
  { set = {}, unset = [] }: Operation,
  fixed: readonly string[],
): Record<string, unknown> {
  const changed = { ...target, ...set };
  const issues: Refused["issues"] = [];
  for (const [index, field] of unset.entries()) {
    if (fixed.includes(field)) {
      issues.push({ path: `unset[${index}]`, code: "not_allowed", message: `${field} can't be left out` });
    } else if (Object.hasOwn(changed, field)) {
      delete changed[field];
    } else {
      const near = nearMatch(field, Object.keys(target));
      issues.push({
        path: `unset[${index}]`,
        code: "unknown_key",
        message: `there is no field "${field}"`,
        allowed: Object.keys(target).slice(0, 100),
        ...(near !== undefined && { did_you_mean: near }),
      });
    }
  }
  if (issues.length > 0) throw new Refused(...issues);
  return changed;
}

/** What names the step by its old id names it by the new one. A query is not ours to change: `steps` is a table there. */
function renamed(definition: Definition, from: string, to: string): Definition {
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
