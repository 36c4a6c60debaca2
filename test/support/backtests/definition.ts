/** Writes generated workflows as definitions. */
import type { Condition, Loop, Operand, Step, Workflow } from "./workflows.ts";

const INPUTS = {
  type: "object",
  properties: { n: { type: "number" }, list: { type: "array", items: { type: "number" } } },
  required: ["n", "list"],
};

export function definitionOf({ steps, output }: Workflow): Record<string, unknown> {
  const byId = new Map(steps.map((step) => [step.id, step]));
  return {
    inputs: INPUTS,
    steps: steps.map((step) => writtenStep(step, byId)),
    ...(output !== null && {
      output: Object.fromEntries(
        Object.entries(output).map(([name, { constant, ...operand }]) => [
          name,
          template(`${source(operand, byId)} + ${constant}`),
        ]),
      ),
    }),
  };
}

type Steps = ReadonlyMap<string, Step>;

const template = (text: string): string => `\${{ ${text} }}`;

function writtenStep(step: Step, steps: Steps): Record<string, unknown> {
  const { id, kind, needs, loop, continues, factor, constant, operator, extra } = step;
  const operand = source(step, steps, loop);
  const number = `${operand} * ${factor} + ${constant}`;
  return {
    id,
    type: kind,
    ...(needs !== undefined && { needs }),
    ...(step.if !== null && { if: comparison(step.if, steps) }),
    ...(loop !== null && writtenLoop(step, loop, steps)),
    ...(continues && { on_error: "continue" }),
    ...(kind === "set" && { values: { value: template(number) } }),
    ...(kind === "assert" && { that: `${operand} ${operator} ${constant}` }),
    ...(kind === "probe" && { ask: { n: template(number), ...EXTRAS[extra] } }),
  };
}

const EXTRAS: Record<Step["extra"], object> = {
  none: {},
  run: { by: "run ${{ run.id }}" },
  started_at: { at: "${{ run.started_at }}" },
  text: { text: "fixed" },
};

function writtenLoop({ kind }: Step, loop: Loop, steps: Steps): Record<string, unknown> {
  if (loop.kind === "each") {
    const list = Array.isArray(loop.list) ? JSON.stringify(loop.list) : listSource(loop.list, steps);
    return {
      for_each: loop.reversed ? `(${list}).reverse()` : list,
      concurrency: loop.concurrency,
    };
  }
  const done = kind === "assert" ? "result.ok == true" : `(result.value ?? 0) >= ${loop.until}`;
  return {
    repeat: {
      until: done,
      max: loop.max,
      with: { sum: { start: template("inputs.n"), next: "loop.sum + 1" } },
    },
  };
}

const comparison = (condition: Condition, steps: Steps): string =>
  `${source(condition, steps)} ${condition.operator} ${condition.constant}`;

/** A number. @param own the loop of the step that reads it */
function source({ from, status }: Operand, steps: Steps, own: Loop | null = null): string {
  if (from === "inputs") return "inputs.n";
  if (from === "own") return own?.kind === "each" ? "item" : "loop.sum";
  if (status) return `(steps.${from}.status == 'succeeded' ? 1 : 2)`;
  const step = steps.get(from)!;
  return step.loop === null
    ? valueOf(step, `steps.${from}`)
    : `(steps.${from}.items ?? []).map(one, ${valueOf(step, "one")}).sum()`;
}

function listSource({ from }: Operand, steps: Steps): string {
  if (from === "inputs") return "inputs.list";
  const step = steps.get(from)!;
  return step.loop === null
    ? `[${valueOf(step, `steps.${from}`)}, 1]`
    : `(steps.${from}.items ?? []).map(one, ${valueOf(step, "one")})`;
}

const valueOf = ({ kind }: Step, place: string): string =>
  kind === "assert" ? `(${place}.ok == true ? 1 : 0)` : `(${place}.value ?? 0)`;
