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

/** Maximum number of names of changed parts. */
const MAX_PARTS = 50;

/**
 * The parts of a definition that differ: top-level fields, and steps by their ids.
 * @returns names such as `output` and `steps.send`; `steps` where the order differs
 */
export function changedParts(before: Fields, after: Fields): string[] {
  const [were, are] = [stepsOf(before), stepsOf(after)];
  const kept = (steps: Map<string, Fields>): string[] =>
    [...steps.keys()].filter((id) => were.has(id) && are.has(id));
  const fields = keysOf(before, after).filter((field) => field !== "steps");
  const names = [
    ...fields.filter((field) => differ(before[field], after[field])),
    ...(differ(kept(were), kept(are)) ? ["steps"] : []),
    ...[...new Set([...were.keys(), ...are.keys()])]
      .filter((id) => differ(were.get(id), are.get(id)))
      .map((id) => differenceName(["steps", id])),
  ];
  return names.slice(0, MAX_PARTS);
}

const keysOf = (...objects: readonly Fields[]): string[] => [
  ...new Set(objects.flatMap((object) => Object.keys(object))),
];

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

/** The steps by their ids. A draft may have anything in the place of them. */
const stepsOf = ({ steps }: Fields): Map<string, Fields> =>
  new Map(
    (Array.isArray(steps) ? (steps as (Fields | null)[]) : []).flatMap((step) =>
      typeof step?.["id"] === "string" ? [[step["id"], step] as const] : [],
    ),
  );
