/** Generates workflows whose runs depend on their definition and inputs alone, apart from what runs beside a failing step. */
import * as fc from "fast-check";

/** What an expression reads: the output of a step, or `inputs`, `item` or `loop`. */
export interface Operand {
  from: string;
  /** Reads whether the step succeeded instead of its output. */
  status: boolean;
}

export interface Condition extends Operand {
  operator: "!=" | "==" | "<" | ">=";
  constant: number;
}

export type Loop =
  | { kind: "each"; list: number[] | Operand; reversed: boolean; concurrency: number }
  | { kind: "repeat"; until: number; max: number };

export interface Step extends Operand {
  id: string;
  kind: "set" | "assert" | "probe";
  /** Left out, the step before it. */
  needs?: string[];
  if: Condition | null;
  loop: Loop | null;
  continues: boolean;
  /** It computes its operand times `factor` plus `constant`; an assert compares its operand with the constant. */
  factor: number;
  constant: number;
  operator: Condition["operator"];
  /** What the input of a probe has beside its number. */
  extra: "none" | "run" | "started_at" | "text";
}

/** The reads of the output, by field; null for the output of the last step. */
type Output = Record<string, Operand & { constant: number }> | null;

export interface Workflow {
  steps: Step[];
  output: Output;
}

/** The ids of the steps that end before a step starts, of which it may read the outputs. */
export function ancestorIds(steps: readonly Step[], index: number): string[] {
  const needs = directNeeds(steps, index);
  const found = new Set<string>();
  for (const id of needs) {
    found.add(id);
    const at = steps.findIndex((step) => step.id === id);
    for (const further of ancestorIds(steps, at)) found.add(further);
  }
  return [...found].toSorted();
}

const directNeeds = (steps: readonly Step[], index: number): string[] =>
  steps[index]!.needs ?? (index === 0 ? [] : [steps[index - 1]!.id]);

const OPERATOR = fc.constantFrom<Condition["operator"]>("!=", "!=", "==", "<", ">=");
const OPERAND = fc.record({ from: fc.nat({ max: 20 }), status: fc.nat({ max: 5 }) });
const CONDITION = fc.record({
  operand: OPERAND,
  operator: OPERATOR,
  constant: fc.integer({ min: -1, max: 5 }),
});

const DRAWN_STEP = fc.record({
  kind: fc.constantFrom<Step["kind"]>("set", "set", "assert", "probe", "probe", "probe"),
  needs: fc.option(fc.uniqueArray(fc.nat({ max: 6 }), { maxLength: 2 }), { freq: 1 }),
  condition: fc.option(CONDITION, { freq: 1 }),
  loop: fc.oneof(
    { weight: 5, arbitrary: fc.constant(null) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("each" as const),
        list: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 4 }),
        from: fc.option(OPERAND, { freq: 1 }),
        reversed: fc.boolean(),
        concurrency: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("repeat" as const),
        until: fc.integer({ min: 0, max: 8 }),
        max: fc.integer({ min: 1, max: 4 }),
      }),
    },
  ),
  continues: fc.boolean(),
  operand: OPERAND,
  factor: fc.integer({ min: 1, max: 2 }),
  constant: fc.integer({ min: -1, max: 5 }),
  operator: OPERATOR,
  extra: fc.constantFrom<Step["extra"]>("none", "none", "run", "started_at", "text"),
});

const DRAWN_OUTPUT = fc.option(
  fc.array(fc.record({ operand: OPERAND, constant: fc.integer({ min: 0, max: 2 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
  { freq: 4 },
);

/** Workflows of 2 to 7 steps: chains and branches that run in parallel. */
export const workflows: fc.Arbitrary<Workflow> = fc
  .tuple(fc.array(DRAWN_STEP, { minLength: 2, maxLength: 7 }), DRAWN_OUTPUT)
  .map(([drawn, output]) => {
    const steps: Step[] = [];
    for (const [index, made] of drawn.entries()) {
      const { kind, continues, factor, constant, operator, extra } = made;
      const needs = index === 0 ? null : made.needs;
      const step: Step = {
        id: `s${index}`,
        kind,
        ...(needs !== null && { needs: [...new Set(needs.map((need) => `s${need % index}`))] }),
        from: "inputs",
        status: false,
        if: null,
        loop: null,
        continues,
        factor,
        constant,
        operator,
        extra,
      };
      const readable = ancestorIds([...steps, step], index);
      const outside = operandFrom(readable);
      if (made.condition !== null) {
        const { operand, operator: compares, constant: to } = made.condition;
        step.if = { ...outside(operand), operator: compares, constant: to };
      }
      if (made.loop?.kind === "repeat") step.loop = made.loop;
      if (made.loop?.kind === "each") {
        const { list, from, reversed, concurrency } = made.loop;
        step.loop = {
          kind: "each",
          list: from === null ? list : { ...outside(from), status: false },
          reversed,
          concurrency,
        };
      }
      const inside = step.loop === null ? readable : [...readable, "own", "own", "own"];
      steps.push({ ...step, ...operandFrom(inside)(made.operand) });
    }
    const all = operandFrom(steps.map(({ id }) => id));
    return {
      steps,
      output:
        output &&
        Object.fromEntries(
          output.map(({ operand, constant }, index) => [`o${index}`, { ...all(operand), constant }]),
        ),
    };
  });

const operandFrom =
  (readable: readonly string[]) =>
  (drawn: { from: number; status: number }): Operand => {
    const from = [...readable, "inputs"][drawn.from % (readable.length + 1)]!;
    return { from, status: drawn.status === 0 && from !== "inputs" && from !== "own" };
  };

export interface Inputs {
  n: number;
  list: number[];
}

/** Inputs of a few runs. */
export const runInputs: fc.Arbitrary<Inputs[]> = fc.array(
  fc.record({
    n: fc.integer({ min: 0, max: 9 }),
    list: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 3 },
);
