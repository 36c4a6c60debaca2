/** Completes expressions: `steps.`, `inputs.`, and the fields of step outputs, as validation reported them. */
import { asList, asObject, type Path, valueAt } from "./path.ts";
import { fieldsAt, parseShape } from "./shape.ts";
import type { CompletionData, Suggestion } from "./suggestions.ts";

/** Fields of a step whose whole value is one expression; `*` is any name. */
const EXPRESSION_FIELDS = [
  ["if"],
  ["that"],
  ["for_each"],
  ["repeat", "until"],
  ["repeat", "with", "*", "next"],
  ["lookup", "happened"],
];
const EVENT_FIELDS = ["body", "headers", "query", "id", "received_at"];
const RUN_FIELDS = ["id", "started_at", "scheduled_for", "workflow_id", "trigger", "event_urls"];

/**
 * The expression around the cursor, up to the cursor.
 * @param before the string around the cursor, up to the cursor
 * @returns undefined when the cursor is not in an expression
 */
export function expressionBefore(before: string, path: Readonly<Path>): string | undefined {
  const open = before.lastIndexOf("${{");
  if (open >= 0 && before[open - 1] !== "$") {
    const inside = before.slice(open + 3);
    if (!inside.includes("}}")) return path.at(-1) === "query" && path.length === 3 ? undefined : inside;
  }
  return isExpressionField(path) && open < 0 ? before : undefined;
}

const isExpressionField = (path: Readonly<Path>): boolean => {
  const [top, , ...field] = path;
  return (
    isAssertion(path) ||
    isTriggerExpression(path) ||
    (top === "steps" &&
      EXPRESSION_FIELDS.some(
        (parts) =>
          parts.length === field.length &&
          parts.every((part, index) => part === "*" || part === field[index]),
      ))
  );
};

/** Whether it is the place of an expression of a trigger. */
const isTriggerExpression = ([top, , field, ...rest]: Readonly<Path>): boolean =>
  top === "triggers" && (field === "if" || field === "deduplicate") && rest.length === 0;

/** Whether it is the place of an assertion of an example. */
const isAssertion = ([top, , field, ...rest]: Readonly<Path>): boolean =>
  top === "examples" && field === "assert" && rest.length === 1;

/** @param before the expression up to the cursor */
export function completeExpression(
  before: string,
  path: Readonly<Path>,
  root: unknown,
  data: CompletionData,
): { typed: string; list: Suggestion[] } {
  const chain = /(?:[A-Za-z_]\w*(?:\[\w*\])*\.)*\w*$/.exec(before)![0];
  const parts = chain.split(".");
  const typed = parts.pop()!;
  if (isInString(before)) return { typed, list: [] };
  const steps = asList(asObject(root)["steps"]);
  const index = path[0] === "steps" && typeof path[1] === "number" ? path[1] : undefined;
  const list = completePath(parts, { root, steps, index, path, field: path.slice(2), data });
  return { typed, list };
}

interface Scope {
  root: unknown;
  steps: readonly unknown[];
  /** The place of the expression. */
  path: Readonly<Path>;
  /** Index of the step that contains the expression; undefined outside steps. */
  index: number | undefined;
  /** The field of that step that contains the expression. */
  field: Readonly<Path>;
  data: CompletionData;
}

function completePath(parts: readonly string[], scope: Scope): Suggestion[] {
  const [head, ...rest] = parts;
  if (head === undefined) return names(scope);
  if (head === "run" && rest.length === 0) return RUN_FIELDS.map((label) => ({ label, kind: "property" }));
  if (head === "run" && rest.length === 1 && rest[0] === "event_urls") return eventSteps(scope.steps);
  if (head === "inputs") return declared(asObject(asObject(scope.root)["inputs"]), rest);
  if (head === "state") return declared({ properties: asObject(scope.root)["state"] }, rest);
  if (head === "loop" && rest.length === 0) return loopVariables(scope);
  if (head === "event" && readsEvent(scope)) return eventFields(scope, rest);
  if (head === "result" && readsResult(scope)) return fieldsOfResult(scope, rest);
  if (head !== "steps") return [];
  const [id, ...fields] = rest;
  return id === undefined ? ancestors(scope).map(stepSuggestion) : outputFields(scope, id, fields);
}

const readsEvent = ({ path }: Scope): boolean => path[0] === "triggers";

/** The fields of what a trigger receives: those of the body by `payload` or `sample`. */
function eventFields({ root, path }: Scope, fields: readonly string[]): Suggestion[] {
  const [field, ...inner] = fields;
  if (field === undefined) return EVENT_FIELDS.map((label) => ({ label, kind: "property" }));
  const trigger = asObject(asList(asObject(root)["triggers"])[Number(path[1])]);
  const sample = asObject(trigger["sample"]);
  if (field === "body" && trigger["payload"] !== undefined)
    return declared(asObject(trigger["payload"]), inner);
  if (field !== "body" && field !== "headers") return [];
  return Object.keys(asObject(valueAt(sample[field], inner)))
    .filter((label) => /^[A-Za-z_]\w*$/.test(label))
    .map((label) => ({ label, kind: "property" }));
}

/** The fields of the output of a step, as validation reported them. */
function outputFields({ data }: Scope, id: unknown, fields: readonly string[]): Suggestion[] {
  const shape = data.steps?.find((step) => step.id === id)?.output;
  if (shape === undefined) return [];
  return fieldsAt(parseShape(shape), fields).map(([label, detail]) => ({ label, detail, kind: "property" }));
}

const stepAt = ({ steps, index }: Scope): Record<string, unknown> =>
  index === undefined ? {} : asObject(steps[index]);

/** The variables of a repeated step, and the number of the iteration. */
function loopVariables(scope: Scope): Suggestion[] {
  const repeat = stepAt(scope)["repeat"];
  if (repeat === undefined) return [];
  const variables = Object.keys(asObject(asObject(repeat)["with"]));
  return [
    ...variables.map((label): Suggestion => ({ label, kind: "property" })),
    { label: "index", detail: "iteration, from 0", kind: "property" },
  ];
}

/** Whether the expression reads the output of the step, or of its lookup, as `result`: after an iteration, in its undo or its lookup. */
const readsResult = (scope: Scope): boolean =>
  scope.field[0] === "undo" ||
  (scope.field[0] === "repeat" && scope.field.at(-1) !== "start") ||
  (isInLookup(scope) && LOOKUP_RESULTS.has(scope.field[1]));

const isInLookup = ({ field }: Scope): boolean => field[0] === "lookup";
/** Fields of a lookup that are evaluated after its request. */
const LOOKUP_RESULTS: ReadonlySet<unknown> = new Set(["happened", "output"]);

/** The fields of the step's output, or of one of its items or iterations. Those of a lookup are not reported. */
function fieldsOfResult(scope: Scope, fields: readonly string[]): Suggestion[] {
  if (isInLookup(scope)) return [];
  const shape = scope.data.steps?.find((step) => step.id === stepAt(scope)["id"])?.output;
  if (shape === undefined) return [];
  const { for_each: list, repeat } = stepAt(scope);
  const hasItems = list !== undefined || repeat !== undefined;
  return fieldsAt(parseShape(shape), [...(hasItems ? ["items[0]"] : []), ...fields]).map(
    ([label, detail]) => ({
      label,
      detail,
      kind: "property",
    }),
  );
}

const variable = (label: string, detail: string): Suggestion => ({
  label,
  detail,
  kind: "variable",
  apply: `${label}.`,
  reopenCompletion: true,
});

function names(scope: Scope): Suggestion[] {
  const { root, data } = scope;
  const { for_each: list, repeat } = stepAt(scope);
  if (readsEvent(scope)) return [variable("event", "what was received"), ...functionsOf(data)];
  return [
    variable("inputs", "inputs of the run"),
    variable("steps", "step outputs"),
    variable("run", "the current run"),
    ...(asObject(root)["state"] === undefined ? [] : [variable("state", "state of the workflow")]),
    ...(repeat === undefined ? [] : [variable("loop", "variables of the iteration")]),
    ...(isAssertion(scope.path) ? [variable("output", "output of the run")] : []),
    ...(readsResult(scope) ? [variable("result", "output of the step, iteration or lookup")] : []),
    ...(isInLookup(scope)
      ? [{ label: "idempotency_key", detail: "key that the attempt sent", kind: "variable" as const }]
      : []),
    ...(list !== undefined
      ? [
          { label: "item", detail: "current for_each item", kind: "variable" as const },
          { label: "index", detail: "index of the item, from 0", kind: "variable" as const },
        ]
      : []),
    ...functionsOf(data),
  ];
}

const functionsOf = ({ functions = [] }: CompletionData): Suggestion[] =>
  functions.map((label) => ({ label, kind: "function", apply: `${label}(` }));

/** The steps that wait for an event, each with a URL. */
const eventSteps = (steps: readonly unknown[]): Suggestion[] =>
  steps.filter((step) => asObject(step)["event"] !== undefined).map(stepSuggestion);

/** The fields that a JSON Schema declares, below a path. */
function declared(root: Readonly<Record<string, unknown>>, rest: readonly string[]): Suggestion[] {
  let schema = root;
  for (const part of rest) schema = asObject(asObject(schema["properties"])[part.replace(/\[.*$/, "")]);
  return Object.entries(asObject(schema["properties"])).map(([label, property]) => {
    const { type, description } = asObject(property);
    return { label, kind: "property", detail: text(type), info: text(description) };
  });
}

export const stepSuggestion = (step: unknown): Suggestion => {
  const { id, type, description } = asObject(step);
  return { label: String(id), kind: "variable", detail: text(type), info: text(description) };
};

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The steps that have ended when this step starts; all steps for the workflow's output. */
function ancestors({ steps, index }: Scope): unknown[] {
  const named = steps.filter((step) => typeof asObject(step)["id"] === "string");
  if (index === undefined) return named;
  const found = new Set<unknown>();
  const queue = [index];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    const needs = valueAt(steps, [at, "needs"]);
    const before = Array.isArray(needs)
      ? needs.map((id) => steps.findIndex((step) => asObject(step)["id"] === id))
      : [at - 1];
    for (const next of before) {
      if (next < 0 || next === index || found.has(steps[next])) continue;
      found.add(steps[next]);
      queue.push(next);
    }
  }
  return named.filter((step) => found.has(step));
}

/** Whether the cursor is in a string of the expression, where nothing is completed. */
function isInString(before: string): boolean {
  const closed = before.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, "");
  return /["']/.test(closed);
}
