/** Looks at all steps, each once those are known that it reads. */
import type { z } from "zod";
import { JsonSchemaObject } from "../../../schemas/workflow-definition.ts";
import { ANY, type Shape } from "../../core/shapes.ts";
import type { Field } from "../../core/step-type.ts";
import { schemaFaults } from "../../core/json-schema/index.ts";
import type { Binder } from "./bind.ts";
import type { StepForm } from "./form.ts";
import { limiter } from "./limiter.ts";
import type { Order } from "./order.ts";
import { below, type CheckedStep, type Located, MAX_FAULTS } from "./report.ts";
import { mentioned, type Scopes, scopesOf } from "./scopes.ts";
import { type StepExpressions, stepExpressions } from "./step-faults.ts";
import { seenShape } from "./step-shapes.ts";

export interface CheckedSteps {
  faults: Located[];
  steps: CheckedStep[];
  /** By position, what the step's type gives. */
  own: readonly Shape[];
  scopes: Scopes;
}

export async function checkSteps(
  steps: readonly StepForm[],
  order: Order,
  inputs: Shape,
  binder: Binder,
  breathe: () => Promise<void>,
): Promise<CheckedSteps> {
  const faults: Located[] = [];
  const own: Shape[] = steps.map(({ type }) => type?.output ?? ANY);
  const seen: Shape[] = [];
  const scopes = scopesOf(steps, order, inputs, seen);
  const done = new Map<number, Promise<void>>();
  const inTurn = limiter(1);

  async function expressions(
    step: StepForm,
    index: number,
    mentions: ReadonlySet<string>,
  ): Promise<StepExpressions> {
    const found = await stepExpressions(step, index, scopes.lean(index, mentions), breathe);
    // Near matches need all names; beyond what is told at all they would be found for nobody.
    const again = found.faults.length > 0 && faults.length < MAX_FAULTS;
    return again ? stepExpressions(step, index, scopes.whole(index), breathe) : found;
  }

  async function look(index: number): Promise<void> {
    const step = steps[index]!;
    const mentions = mentioned(step.written, order.position);
    const before = [...mentions].map((id) => order.position.get(id)!);
    await Promise.all(before.filter((it) => order.isAncestor(index, it)).map((it) => done.get(it)!));
    const { faults: found, fields } = await inTurn(async () => {
      await breathe();
      const checked = await expressions(step, index, mentions);
      return { ...checked, faults: [...checked.faults, ...writtenSchemas(step, index)] };
    });
    faults.push(...found);
    if (step.parsed !== undefined && step.type?.check !== undefined) {
      const { faults: bound, output } = await binder.check(step, fields);
      const told = new Set(found.map(placeOf));
      faults.push(
        ...bound.map((fault) => below(["steps", index], fault)).filter((fault) => !told.has(placeOf(fault))),
      );
      if (output !== undefined) own[index] = output;
    }
    seen[index] = seenShape(step.written, own[index]!);
  }

  for (const index of order.order) {
    const looked = look(index);
    done.set(index, looked);
    // It is awaited below; until then its failure must not go unhandled.
    looked.catch(() => undefined);
    await breathe();
  }
  await Promise.all(done.values());
  return { faults, steps: steps.map((step, index) => summary(step, seen[index]!)), own, scopes };
}

const placeOf = (fault: Located): string => JSON.stringify([fault.path.map(String), fault.code]);

/** Steps without a usable id are left nameless. */
const summary = ({ id, type, written, parsed }: StepForm, output: Shape): CheckedStep => ({
  id: id.startsWith("#") ? "" : id,
  type: type?.type ?? (typeof written["type"] === "string" ? written["type"] : ""),
  output,
  // What can't be read is not said to be harmless.
  effects: type === undefined || parsed === undefined ? true : type.hasEffects(parsed),
});

/** Faults of the JSON Schemas that a step holds (`output_schema`, `form`). */
function writtenSchemas({ written, type, broken }: StepForm, index: number): Located[] {
  return Object.entries((type?.fields ?? {}) as Record<string, Field>).flatMap(([name, { kind, schema }]) =>
    kind === "literal" && isJsonSchema(schema) && Object.hasOwn(written, name) && !broken.has(name)
      ? schemaFaults(written[name]).map((fault) => below(["steps", index, name], fault))
      : [],
  );
}

/** Whether a field takes a JSON Schema; descriptions and optionality aside, it is the one schema for that. */
function isJsonSchema(schema: z.ZodType): boolean {
  const inner = (schema.def as { innerType?: z.ZodType }).innerType;
  return inner === undefined ? (schema.def as unknown) === JsonSchemaObject.def : isJsonSchema(inner);
}
