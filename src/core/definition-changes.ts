/** What a change of a definition does that runs of the past can't show, by name (schemas/difference-names.ts). */
import { differenceName } from "../../schemas/difference-names.ts";
import { canonicalJson } from "./canonical-json.ts";

type Fields = Readonly<Record<string, unknown>>;

/** When runs start, with what, and which of them count; and who may call it. */
const TOP = [
  "schedule",
  "triggers",
  "state",
  "timeout",
  "concurrency",
  "priority",
  "must_succeed",
  "on_failure",
  "expose_as_tool",
  "tool_name",
];
/** When a step runs, how often, what follows an interruption, and what takes it back: replays run it once, beside its recorded result. */
export const OF_STEP = [
  "needs",
  "retry",
  "timeout",
  "rate",
  "concurrency",
  "on_error",
  "cache",
  "on_interrupted",
  "lookup",
  "undo",
];

/**
 * @param before the definition that is live, or was last
 * @returns names such as `definition.schedule`, `definition.inputs.to` for an input that was there before, or `steps.send.undo`
 */
export function unseenChanges(before: Fields, after: Fields): string[] {
  const names = TOP.filter((field) => differ(before[field], after[field])).map((field) =>
    differenceName(["definition", field]),
  );
  const [were, are] = [inputsOf(before), inputsOf(after)];
  if (differ(were.others, are.others)) names.push(differenceName(["definition", "inputs"]));
  for (const [input, schema] of Object.entries(were.properties))
    if (differ(schema, are.properties[input])) names.push(differenceName(["definition", "inputs", input]));
  const steps = stepsOf(before);
  for (const [id, step] of stepsOf(after))
    for (const field of OF_STEP)
      // Of a new step all else is new too, and its effects have names.
      if (steps.has(id) || field === "undo")
        if (differ(steps.get(id)?.[field], step[field])) names.push(differenceName(["steps", id, field]));
  return names;
}

const differ = (one: unknown, other: unknown): boolean =>
  canonicalJson(one ?? null) !== canonicalJson(other ?? null);

/** The inputs by name, and the other fields of their schema, without what only people read. */
function inputsOf({ inputs }: Fields): { properties: Fields; others: Fields } {
  const { properties = {}, ...others } = (inputs ?? {}) as { properties?: Fields };
  const read = Object.entries(properties).map(([name, schema]) => [name, withoutTexts(schema)] as const);
  return { properties: Object.fromEntries(read), others: withoutTexts(others) as Fields };
}

function withoutTexts(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  const { title: _, description: __, examples: ___, ...rest } = schema as Fields;
  return rest;
}

const stepsOf = ({ steps = [] }: Fields): Map<string, Fields> =>
  new Map((steps as (Fields & { id: string })[]).map((step) => [step.id, step]));
