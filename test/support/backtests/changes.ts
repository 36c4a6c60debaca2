/** Plants one change in a generated workflow. */
import * as fc from "fast-check";
import { ancestorIds, type Condition, type Operand, type Step, type Workflow } from "./workflows.ts";

export interface Change {
  kind: string;
  workflow: Workflow;
}

type Plant = (workflow: Workflow, step: Step, drawn: number) => Workflow | undefined;

const OPERATORS: readonly Condition["operator"][] = ["!=", "==", "<", ">="];

const PLANTS: Readonly<Record<string, Plant>> = {
  constant: (workflow, step) => replaced(workflow, step, { constant: step.constant + 1 }),
  factor: (workflow, step) =>
    step.kind !== "assert" ? replaced(workflow, step, { factor: step.factor + 1 }) : undefined,
  condition: (workflow, step, drawn) =>
    step.if === null
      ? undefined
      : replaced(workflow, step, { if: { ...step.if, ...otherComparison(step.if, drawn) } }),
  assert: (workflow, step, drawn) =>
    step.kind === "assert" ? replaced(workflow, step, otherComparison(step, drawn)) : undefined,
  field: (workflow, step) =>
    step.kind === "probe"
      ? replaced(workflow, step, { extra: step.extra === "text" ? "none" : "text" })
      : undefined,
  list: (workflow, step) => {
    const { loop } = step;
    return loop?.kind === "each"
      ? replaced(workflow, step, { loop: { ...loop, reversed: !loop.reversed } })
      : undefined;
  },
  items: (workflow, step, drawn) => {
    const { loop } = step;
    if (loop?.kind !== "each" || !Array.isArray(loop.list)) return undefined;
    const list = drawn % 2 === 0 ? [...loop.list, drawn] : loop.list.slice(1);
    return replaced(workflow, step, { loop: { ...loop, list } });
  },
  needs: (workflow, step, drawn) =>
    replaced(workflow, step, {
      needs:
        drawn % 2 === 0
          ? []
          : workflow.steps
              .slice(0, 1)
              .map(({ id }) => id)
              .filter((id) => id !== step.id),
    }),
  until: (workflow, step) => {
    const { loop } = step;
    return loop?.kind === "repeat"
      ? replaced(workflow, step, { loop: { ...loop, until: loop.until + 2 } })
      : undefined;
  },
  on_error: (workflow, step) => replaced(workflow, step, { continues: !step.continues }),
  removed: ({ steps, output }, { id }) => {
    const others = steps.filter((step) => step.id !== id);
    return others.length > 0 ? { steps: others, output } : undefined;
  },
  added: ({ steps, output }, step) => ({
    steps: [
      ...steps,
      {
        ...step,
        id: "added",
        kind: "probe",
        needs: [step.id],
        from: step.id,
        status: false,
        if: null,
        loop: null,
      },
    ],
    // A default would be the output of the new step.
    output: output ?? { o0: { from: steps.at(-1)!.id, status: false, constant: 0 } },
  }),
  output: (workflow, step, drawn) => {
    const { output } = workflow;
    if (output === null) return undefined;
    const names = Object.keys(output);
    const name = names[drawn % names.length]!;
    const read = output[name]!;
    return {
      ...workflow,
      output: {
        ...output,
        [name]: drawn % 2 === 0 ? { ...read, from: step.id } : { ...read, constant: read.constant + 1 },
      },
    };
  },
};

const replaced = (workflow: Workflow, { id }: Step, fields: Partial<Step>): Workflow => ({
  ...workflow,
  steps: workflow.steps.map((step) => (step.id === id ? { ...step, ...fields } : step)),
});

const otherComparison = (
  { operator, constant }: Pick<Condition, "operator" | "constant">,
  drawn: number,
): Pick<Condition, "operator" | "constant"> =>
  drawn % 2 === 0
    ? { operator, constant: constant + 1 }
    : { operator: OPERATORS[(OPERATORS.indexOf(operator) + 1 + (drawn % 3)) % OPERATORS.length]!, constant };

const isReadable = ({ from }: Operand, readable: ReadonlySet<string>): boolean =>
  ["inputs", "own"].includes(from) || readable.has(from);

/** Whether every step reads only what has ended before it. */
function isSound({ steps, output }: Workflow): boolean {
  const ids = new Set(steps.map(({ id }) => id));
  return (
    Object.values(output ?? {}).every((operand) => isReadable(operand, ids)) &&
    steps.every((step, index) => {
      if (step.needs?.some((id) => !ids.has(id)) === true) return false;
      const readable = new Set(ancestorIds(steps, index));
      const list = step.loop?.kind === "each" && !Array.isArray(step.loop.list) ? [step.loop.list] : [];
      return [step, ...(step.if === null ? [] : [step.if]), ...list].every((operand) =>
        isReadable(operand, readable),
      );
    })
  );
}

/** A change that can be planted in a workflow: the first of those drawn that fits. */
export const changesOf = (workflow: Workflow): fc.Arbitrary<Change> =>
  fc
    .array(
      fc.record({
        kind: fc.constantFrom(...Object.keys(PLANTS)),
        at: fc.nat({ max: 6 }),
        drawn: fc.nat({ max: 11 }),
      }),
      { minLength: 6, maxLength: 6 },
    )
    .map((drawn) => {
      for (const { kind, at, drawn: choice } of drawn) {
        const changed = PLANTS[kind]!(workflow, workflow.steps[at % workflow.steps.length]!, choice);
        if (changed !== undefined && isSound(changed)) return { kind, workflow: changed };
      }
      const [first] = workflow.steps;
      return { kind: "constant", workflow: replaced(workflow, first!, { constant: first!.constant + 1 }) };
    });
