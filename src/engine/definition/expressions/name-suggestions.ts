/** Suggests what an unknown name or field means, and how the expression is rewritten. */
import type { SyntaxNode } from "./cel-parser.ts";
import type { IssueDetails } from "./failures.ts";
import type { TypeScope } from "./types.ts";
import type { Type } from "./typing.ts";

/** Constants and variables of other languages. */
const NAMES: Readonly<Record<string, string>> = {
  None: "null",
  nil: "null",
  undefined: "null",
  NULL: "null",
  Null: "null",
  True: "true",
  TRUE: "true",
  False: "false",
  FALSE: "false",
  input: "inputs",
  params: "inputs",
  parameters: "inputs",
  args: "inputs",
  arguments: "inputs",
  step: "steps",
  nodes: "steps",
  tasks: "steps",
  jobs: "steps",
};
/** Names of what was received in other systems, in the expressions of a trigger. */
const EVENT_NAMES: Readonly<Record<string, string>> = {
  body: "event.body",
  payload: "event.body",
  data: "event.body",
  headers: "event.headers",
  query: "event.query",
  trigger: "event",
  request: "event",
  webhook: "event",
};
/** Names of the item and the index in loops of other languages. */
const ITEM_NAMES: ReadonlySet<string> = new Set([
  "each",
  "this",
  "it",
  "current",
  "element",
  "row",
  "record",
  "entry",
  "value",
]);
const INDEX_NAMES: ReadonlySet<string> = new Set(["i", "idx", "loop_index", "position"]);

/** Names around the fields of a step's output in other languages. */
const WRAPPERS: ReadonlySet<string> = new Set(
  [
    "output",
    "outputs",
    "result",
    "results",
    "data",
    "value",
    "values",
    "response",
    "json",
    "content",
    "answer",
  ].concat(["completion", "message", "payload", "return_value"]),
);
/** The field of a step that is meant when none is named, in order. */
const MAIN_FIELDS = ["items", "rows", "text", "object", "body", "output", "form"];

/** Makes the details of an issue that another source at the node corrects. */
export function replacement({ input, start, end }: SyntaxNode, text: string): IssueDetails {
  return { fix: `Write ${text}.`, rewrite: { source: input, edits: [{ start, end, text }] } };
}

/** Suggests the value that a name stands for. */
export function suggestName(at: SyntaxNode, name: string, scope: TypeScope): IssueDetails | undefined {
  const meant = meantName(name, scope);
  return meant === undefined ? undefined : { ...replacement(at, meant), did_you_mean: meant };
}

function meantName(name: string, { steps, inputs, item, index, event }: TypeScope): string | undefined {
  if (event !== undefined && Object.hasOwn(EVENT_NAMES, name)) return EVENT_NAMES[name];
  if (Object.hasOwn(steps, name)) return `steps.${name}`;
  if (inputs.kind === "object" && Object.hasOwn(inputs.fields, name)) return `inputs.${name}`;
  if (item !== undefined && ITEM_NAMES.has(name)) return "item";
  if (index !== undefined && INDEX_NAMES.has(name)) return "index";
  return Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
}

export interface FieldSuggestion {
  details: IssueDetails;
  /** The type of the value that is meant. */
  type: Type;
}

type Fields = Readonly<Record<string, Type>>;

/** Whether the fields are those of a step. */
const isStep = (fields: Fields): boolean => Object.hasOwn(fields, "status") && Object.hasOwn(fields, "error");

/** Suggests the field that is meant where a step has none of that name. */
export function suggestStepField(at: SyntaxNode, name: string, fields: Fields): FieldSuggestion | undefined {
  if (!isStep(fields) || (at.op !== "." && at.op !== "[]")) return undefined;
  const receiver = at.args[0];
  const step = at.input.slice(receiver.outerStart, receiver.outerEnd);
  const ofItems = itemField(fields, name);
  if (ofItems !== undefined) {
    const all = `${step}.items.map(i, i.${name})`;
    const isList = ofItems.kind === "list";
    const type: Type = isList ? ofItems : { kind: "list", of: ofItems };
    return { details: replacement(at, isList ? `${all}.flatten()` : all), type };
  }
  if (!WRAPPERS.has(name)) return undefined;
  const next = /^\s*\.\s*([A-Za-z_]\w*)/.exec(at.input.slice(at.end))?.[1];
  if (next !== undefined && Object.hasOwn(fields, next))
    return { details: replacement(at, step), type: { kind: "object", fields } };
  const main = MAIN_FIELDS.find((field) => Object.hasOwn(fields, field));
  return main === undefined
    ? undefined
    : { details: { ...replacement(at, `${step}.${main}`), did_you_mean: main }, type: fields[main]! };
}

function itemField({ items }: Fields, name: string): Type | undefined {
  if (items?.kind !== "list" || items.of.kind !== "object") return undefined;
  return Object.hasOwn(items.of.fields, name) ? items.of.fields[name] : undefined;
}

/** Returns the main field of a step whose kind is one of those; undefined if the type is not that of a step. */
export function mainField(type: Type, kinds: readonly Type["kind"][]): string | undefined {
  if (type.kind !== "object" || !isStep(type.fields)) return undefined;
  return MAIN_FIELDS.find((name) => kinds.includes(type.fields[name]?.kind ?? "null"));
}
