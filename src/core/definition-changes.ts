/** What a change of a definition does that runs of the past can't show, by name (schemas/difference-names.ts). */
import { differenceName } from "../../schemas/difference-names.ts";
import { canonicalJson } from "./canonical-json.ts";

type Fields = Readonly<Record<string, unknown>>;

/** When runs start, and what they start with; which of them count; and who may call it. */
const TOP = [
  "schedule",
  "triggers",
  "state",
  "timeout",
  "concurrency",
  "must_succeed",
  "on_failure",
  "expose_as_tool",
  "tool_name",
] as const;

/**
 * @param before the definition that is live, or was last
 * @returns `definition.schedule`, `definition.inputs.to` for an input that was there before, or `steps.send.undo`
 */
export function unseenChanges(before: Fields, after: Fields): string[] {
  const names = TOP.filter((field) => differ(before[field], after[field])).map((field) =>
    differenceName(["definition", field]),
  );
  const [were, are] = [inputsOf(before), inputsOf(after)];
  for (const [input, schema] of Object.entries(were))
    if (differ(schema, are[input])) names.push(differenceName(["definition", "inputs", input]));
  const [undid, undoes] = [undosOf(before), undosOf(after)];
  for (const id of new Set([...undid.keys(), ...undoes.keys()]))
    if (differ(undid.get(id), undoes.get(id))) names.push(differenceName(["steps", id, "undo"]));
  return names;
}

const differ = (one: unknown, other: unknown): boolean =>
  canonicalJson(one ?? null) !== canonicalJson(other ?? null);

/** The inputs by name, without what only people read. */
function inputsOf({ inputs }: Fields): Fields {
  const { properties = {} } = (inputs ?? {}) as { properties?: Record<string, unknown> };
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      if (typeof schema !== "object" || schema === null) return [name, schema];
      const { title: _, description: __, examples: ___, ...rest } = schema as Fields;
      return [name, rest];
    }),
  );
}

const undosOf = ({ steps = [] }: Fields): Map<string, unknown> =>
  new Map(
    (steps as { id: string; undo?: unknown }[]).flatMap(({ id, undo }) =>
      undo === undefined ? [] : [[id, undo] as const],
    ),
  );
