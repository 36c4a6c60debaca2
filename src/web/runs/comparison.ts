/** What the comparison of two runs says, in words. */
import type {
  ComparedItem,
  ComparedStep,
  ComparedValue,
  RunComparison,
} from "../../../schemas/run-comparison.ts";
import { pluralize } from "./labels.ts";

/** A value that differs, under its heading. */
export interface DifferingValue {
  title: string;
  value: ComparedValue;
}

const VALUE_TITLES = {
  inputs: "Inputs",
  state: "State read",
  input: "Input",
  error: "Error",
  output: "Output",
  committed: "State committed",
} as const;

type Field = keyof typeof VALUE_TITLES;

const FIELD_NAMES: Readonly<Record<string, string>> = { definition: "definition", status: "status" };

/** Where the runs part first, as a sentence; the id of a step is in backticks. */
export function describeVerdict({ same, complete, first_difference: first }: RunComparison): string {
  if (same) return "Both runs did the same. Only times and durations may differ.";
  if (first === null) return complete ? "No differences." : "No difference was found in what was compared.";
  const { step_id: step, item, field, path } = first;
  const name = FIELD_NAMES[field] ?? VALUE_TITLES[field as Field].toLowerCase();
  const place = path === undefined ? name : `${name} (${path})`;
  if (step === undefined) return `First difference: the ${place} of the run.`;
  if (field === "definition") return `First difference: only one of the runs has the step \`${step}\`.`;
  return `First difference: the ${place} of ${item === undefined ? "" : `item ${item} of `}the step \`${step}\`.`;
}

/** The values of a run, a step or an item that differ, in the order in which they came about. */
export const differingValues = (
  parts: Partial<Record<Field, ComparedValue | undefined>>,
  fields: readonly Field[],
): DifferingValue[] =>
  fields.flatMap((field) => {
    const value = parts[field];
    return value === undefined ? [] : [{ title: VALUE_TITLES[field], value }];
  });

/** A step or item whose values differ. */
export interface DifferingPart {
  title: string;
  /** Beside the values. */
  notes: string[];
  values: DifferingValue[];
}

/** A step with what differs in it, and each item that is shown; empty for a step that is the same. */
export function differingParts(step: ComparedStep): DifferingPart[] {
  const { items } = step;
  const values = valuesOf(step);
  const notes =
    items === undefined || items.differing === 0
      ? []
      : [`${items.differing.toLocaleString()} of the first ${pluralize(items.compared, "item")} differ.`];
  const own = { title: step.id, notes, values };
  return [
    ...(values.length > 0 || notes.length > 0 ? [own] : []),
    ...(items?.first ?? []).map((item) => ({
      title: `${step.id}, item ${item.item}`,
      notes:
        item.before === item.after
          ? []
          : [`Before: ${statusOf(item.before)}. After: ${statusOf(item.after)}.`],
      values: valuesOf(item),
    })),
  ];
}

const valuesOf = (part: Pick<ComparedItem, "input" | "error" | "output">): DifferingValue[] =>
  differingValues(part, ["input", "error", "output"]);

const statusOf = (status: ComparedItem["before"]): string => status ?? "no such item";

/** One side of a difference as text: JSON, or that nothing is there. A large value has its beginning and its size. */
export function describeSide(
  difference: Readonly<Record<string, unknown>>,
  side: "before" | "after",
): string {
  if (!(side in difference)) return "nothing";
  const value = difference[side];
  const { truncated, chars, preview } = (value ?? {}) as Record<string, unknown>;
  return truncated === true && typeof chars === "number" && typeof preview === "string"
    ? `${preview}… (${chars.toLocaleString()} characters)`
    : JSON.stringify(value);
}
