/** The expressions of one step: faults, and what is known of its fields. */
import { ANY, type Shape } from "../../core/shapes.ts";
import type { Field } from "../../core/step-type.ts";
import { checkCel, checkValueSlowly } from "../expressions/index.ts";
import type { Checked, TypeScope } from "../expressions/types.ts";
import { fitFaults, kindWord } from "./fits.ts";
import type { StepForm } from "./form.ts";
import { below, type Located } from "./report.ts";
import { INDEX_SHAPE, itemOf } from "./step-shapes.ts";

export interface StepExpressions {
  faults: Located[];
  /** What is known of its template and cel fields. */
  fields: Readonly<Record<string, Shape>>;
}

/** Null counts as false. */
const CONDITION: ReadonlySet<Shape["kind"]> = new Set(["any", "null", "boolean"]);

/** A CEL field of a form that its schema has taken. */
const cel = (source: unknown, scope: TypeScope): Checked => checkCel(source as string | boolean, scope);

export async function stepExpressions(
  step: StepForm,
  index: number,
  scope: TypeScope,
  breathe: () => Promise<void>,
): Promise<StepExpressions> {
  const { written, type, broken } = step;
  const faults: Located[] = [];
  const fields: Record<string, Shape> = {};
  const usable = (field: string): boolean => Object.hasOwn(written, field) && !broken.has(field);
  const tell = (field: string, checked: Checked, wrong: Checked["faults"]): void => {
    const found = checked.faults.length > 0 ? checked.faults : wrong;
    faults.push(...found.map((fault) => below(["steps", index, field], fault)));
  };

  if (usable("if")) {
    const checked = cel(written["if"], scope);
    tell("if", checked, CONDITION.has(checked.shape.kind) ? [] : [wrongType("true or false", checked.shape)]);
  }
  let inner = scope;
  if (Object.hasOwn(written, "for_each")) {
    const checked = usable("for_each") ? cel(written["for_each"], scope) : { shape: ANY, faults: [] };
    const isList = checked.shape.kind === "list" || checked.shape.kind === "any";
    tell("for_each", checked, isList ? [] : [wrongType("a list", checked.shape)]);
    inner = { ...scope, item: itemOf(checked.shape), index: INDEX_SHAPE };
  }
  for (const [name, field] of Object.entries((type?.fields ?? {}) as Record<string, Field>)) {
    if (field.kind === "literal" || !usable(name)) continue;
    const checked =
      field.kind === "cel"
        ? cel(written[name], inner)
        : await checkValueSlowly(written[name], inner, breathe);
    fields[name] = checked.shape;
    tell(name, checked, fitFaults(field.schema, checked.shape));
  }
  return { faults, fields };
}

const wrongType = (wanted: string, shape: Shape) => ({
  code: "wrong_type",
  message: `must give ${wanted}, not ${kindWord(shape)}`,
  ...(wanted === "true or false" && { fix: "Compare it with something, such as > 0 or != null." }),
});
