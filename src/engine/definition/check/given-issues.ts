/** Checks outputs of steps that stand in for those of a run: mocks, and what a trial is given. */
import { FAN_OUT_FIX } from "../../../../schemas/given.ts";
import { nearMatch } from "../../../core/near-match.ts";
import { formatShape } from "../../../core/format-shape.ts";
import type { Shape } from "../../../core/shapes.ts";
import { isForEachItem } from "../step-value.ts";
import type { LocatedIssue } from "./check-report.ts";
import { outputFitIssues } from "./output-fit.ts";
import type { StepOrder } from "./step-order.ts";

/** Maximum number of steps that an issue lists. */
const MAX_LISTED = 50;

export function unknownStep(id: string, { position }: StepOrder): Omit<LocatedIssue, "path"> {
  const ids = [...position.keys()].filter((known) => !known.startsWith("#"));
  const near = nearMatch(id, ids);
  return {
    code: "unknown_step",
    message: "is not a step of this workflow",
    ...(ids.length <= MAX_LISTED && { allowed: ids }),
    ...(near !== undefined && { did_you_mean: near }),
  };
}

/** What outputs are checked against. */
export interface ExpectedOutputs {
  order: StepOrder;
  /** The steps by their ids, as they are written. */
  stepFields: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** The shapes of `steps.<id>`. */
  shapes: Readonly<Record<string, Shape>>;
  /** The fields that expressions read, as `<step>.<field>`. */
  reads: () => ReadonlySet<string>;
}

/** Finds the fields of outputs that a definition reads, in the usual form. */
export const readsOf = (definition: unknown): ReadonlySet<string> =>
  new Set(
    [...JSON.stringify(definition).matchAll(/\bsteps\.([a-z]\w*\.[A-Za-z_]\w*)/g)].map(([, field]) => field!),
  );

/** Reports outputs of steps that do not exist, and outputs that a step can't have. */
export function outputIssues(
  outputs: Readonly<Record<string, unknown>>,
  { order, stepFields, shapes, reads }: ExpectedOutputs,
  path: readonly PropertyKey[],
): LocatedIssue[] {
  const issues: LocatedIssue[] = [];
  for (const [id, output] of Object.entries(outputs)) {
    const at = [...path, id];
    const step = stepFields.get(id) ?? {};
    const isItem = isObject(output) && isForEachItem(step, output);
    const shape = isItem ? itemOf(shapes[id]) : shapes[id];
    if (!order.position.has(id)) issues.push({ path: at, ...unknownStep(id, order) });
    else if (!isObject(output))
      issues.push({
        path: at,
        code: "wrong_type",
        message: "must be an object, the output of the step",
        ...(step["for_each"] !== undefined && { fix: FAN_OUT_FIX }),
      });
    else if (shape?.kind === "object") {
      issues.push(...outputFitIssues(output, shape, at));
      // A failed step has no output. Expressions read those of items in many forms.
      if (isItem || (output["error"] ?? null) !== null) continue;
      for (const [name, field] of Object.entries(shape.fields))
        if (!STATUS_FIELDS.has(name) && !Object.hasOwn(output, name) && reads().has(`${id}.${name}`))
          issues.push(missingField(name, field, at));
    }
  }
  return issues;
}

/** The shape of an item, from that of its fan-out. */
function itemOf(shape: Shape | undefined): Shape | undefined {
  const items = shape?.kind === "object" ? shape.fields["items"] : undefined;
  return items?.kind === "list" ? items.of : undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Fields that a step has without an output. */
const STATUS_FIELDS: ReadonlySet<string> = new Set(["status", "error"]);

const missingField = (name: string, shape: Shape, path: readonly PropertyKey[]): LocatedIssue => ({
  path: [...path, name],
  code: "missing",
  severity: "warning",
  message: "is read by an expression, and null as long as it is left out",
  fix: `Add it, as ${formatShape(shape)}.`,
});
