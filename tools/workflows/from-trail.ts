/**
 * Makes a workflow from a trail of single steps. Values of earlier outputs become references to these steps, values that look
 * like parameters become inputs, and every such guess is reported, so that the author can check it.
 */
import type { AnyStepType } from "../../src/core/step-type.ts";
import { formatPath } from "../../src/core/issues.ts";
import { truncateText } from "../runs/truncate.ts";
import type { TrailStep } from "./read-trail.ts";
import { looksLikeParameter, type TrailInputs, trailInputs } from "./trail-inputs.ts";
import { takeOutLiterals } from "./trail-sql.ts";
import { isDate, type Place, type TrailValues, trailValues } from "./trail-values.ts";

/** Maximum length of a value in a guess, in characters. */
const VALUE_CHARS = 60;
/** Maximum size of the values of the example together, in characters of JSON. */
const MAX_EXAMPLE_CHARS = 20_000;
/** Maximum size of the output of one step in the example, in characters of JSON. */
const MAX_GIVEN_CHARS = 8_000;

/** Minimum length of the value of an input that is found inside a text, in characters. */
const MIN_INPUT_IN_TEXT = 8;

/** Something that the trail does not say for certain. */
export interface Guess {
  path: string;
  message: string;
}

interface TrailWorkflow {
  definition: Record<string, unknown>;
  guesses: Guess[];
  /** Whether a query was changed: its values became parameters. */
  hasChangedQuery: boolean;
}

type Path = readonly (string | number)[];

/** What the steps before have contributed. */
interface Draft {
  values: TrailValues;
  inputs: TrailInputs;
  /** The ids of the steps in the workflow, by run. */
  ids: Map<string, string>;
  guesses: Guess[];
  changedQueries: number;
}

/** @param options.keepQueries leaves the texts of queries as they are */
export function workflowFromTrail(
  trail: readonly TrailStep[],
  stepTypes: readonly AnyStepType[],
  { keepQueries = false }: { keepQueries?: boolean } = {},
): TrailWorkflow {
  const types = new Map(stepTypes.map((type) => [type.type, type]));
  const draft: Draft = {
    values: trailValues(),
    inputs: trailInputs(),
    ids: new Map(),
    guesses: [],
    changedQueries: 0,
  };
  const steps: Record<string, unknown>[] = [];
  for (const [index, recorded] of trail.entries()) {
    const id = uniqueId(recorded, new Set(draft.ids.values()));
    steps.push(stepOf(draft, recorded, { id, index, type: types.get(recorded.step.type)!, keepQueries }));
    draft.ids.set(recorded.runId, id);
    draft.values.add(id, recorded.output);
  }
  const inputs = draft.inputs.schema();
  const example = exampleOf(draft, trail, types);
  return {
    definition: {
      ...(inputs !== undefined && { inputs }),
      steps,
      ...(example !== undefined && { examples: [example] }),
    },
    guesses: draft.guesses,
    hasChangedQuery: draft.changedQueries > 0,
  };
}

/** The first table that a query reads. */
const FIRST_TABLE = /\bfrom\s+(?:\w+\.)?"?([a-z][a-z0-9_]{0,50})\b/i;

/** The step's own id; for a query of query_database the table that it reads. */
function uniqueId({ step }: TrailStep, taken: ReadonlySet<string>): string {
  const { id: own, type, query } = step;
  const isUnnamed = type === "sql" && ["query", "sql"].includes(own) && typeof query === "string";
  const table = isUnnamed ? FIRST_TABLE.exec(query)?.[1]?.toLowerCase() : undefined;
  const base = table ?? own;
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}_${count}`;
    if (!taken.has(id)) return id;
  }
}

interface StepOptions {
  id: string;
  /** Its position in the workflow. */
  index: number;
  type: AnyStepType;
  keepQueries: boolean;
}

function stepOf(draft: Draft, recorded: TrailStep, options: StepOptions): Record<string, unknown> {
  const { id, index, type, keepQueries } = options;
  const targets = new Map(
    Object.entries(recorded.inputs).map(([name, value]) => [
      name,
      expressionOfInput(draft, recorded, { name, value, path: ["steps", index], stepId: id }),
    ]),
  );
  const { id: _, ...fields } = recorded.step;
  const step: Record<string, unknown> = { id };
  for (const [field, value] of Object.entries(withoutTruncation(fields, recorded.output))) {
    const kind = type.fields[field]?.kind;
    const renamed = kind === "literal" || field === "description" ? value : renameInputs(value, targets);
    step[field] =
      kind === "template"
        ? wired(draft, renamed, { type: type.type, stepId: id, index, path: [field] })
        : renamed;
  }
  if (type.type === "sql" && !keepQueries) takeOutOfQuery(draft, step, { id, index });
  return step;
}

/** query_database keeps the first rows of many; a workflow fails then, unless the rows of the trail were cut too. */
function withoutTruncation(
  fields: Readonly<Record<string, unknown>>,
  output: unknown,
): Readonly<Record<string, unknown>> {
  const { on_truncate: onTruncate, ...rest } = fields;
  const wasCut = (output as { truncated?: unknown } | null)?.truncated === true;
  return onTruncate === "keep" && !wasCut ? rest : fields;
}

interface GivenInput {
  name: string;
  value: unknown;
  path: Path;
  stepId: string;
}

/** What an expression of the step reads in the workflow instead of one of its inputs. */
function expressionOfInput(
  draft: Draft,
  { sources }: TrailStep,
  { name, value, path, stepId }: GivenInput,
): string {
  const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
  const [, runId = "", rest = ""] = /^(run_[\w-]+)(.*)$/.exec(source ?? "") ?? [];
  const sourceId = draft.ids.get(runId);
  if (sourceId !== undefined) return `steps.${sourceId}${rest}`;
  const place = source === undefined ? draft.values.find(value, name) : undefined;
  if (place !== undefined) {
    guessPlace(draft, [...path, `inputs.${name}`], place);
    return place.expression;
  }
  const reason =
    source === undefined
      ? "it was given to the step"
      : `it was taken from ${source}, which is not in the trail`;
  return `inputs.${proposeInput(draft, { name, value, stepId, reason })}`;
}

function proposeInput(
  { inputs, guesses }: Draft,
  { name: wanted, value, stepId, reason }: { name: string; value: unknown; stepId: string; reason: string },
): string {
  const { name, isNew } = inputs.propose(wanted, value, stepId);
  if (isNew)
    guesses.push({ path: `inputs.${name}`, message: `is proposed as an input (${shown(value)}): ${reason}` });
  return name;
}

function guessPlace({ guesses }: Draft, path: Path, { expression, value, isOneOfMany }: Place): void {
  const doubt = isOneOfMany ? " It is one of several: check that it is the right one." : "";
  guesses.push({
    path: formatPath(path),
    message: `reads ${expression}, because the value was the same: ${shown(value)}.${doubt}`,
  });
}

const shown = (value: unknown): string => truncateText(JSON.stringify(value), VALUE_CHARS);

/** Replaces the references to inputs of the step in all expressions of a value. */
function renameInputs(value: unknown, targets: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string")
    return value.replaceAll(
      /(?<![\w.])inputs(?:\.([A-Za-z_]\w*)|\[(["'])(.*?)\2\])/g,
      (written, name: string | undefined, _quote, key: string | undefined) =>
        targets.get(name ?? key ?? "") ?? written,
    );
  if (Array.isArray(value)) return value.map((item) => renameInputs(item, targets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, renameInputs(inner, targets)]));
}

interface FieldPlace {
  type: string;
  stepId: string;
  index: number;
  /** The field, and what is below. */
  path: Path;
}

const whole = (expression: string): string => `\${{ ${expression} }}`;

/** A value of a template field with references instead of the values of earlier outputs and of parameters. */
function wired(draft: Draft, value: unknown, at: FieldPlace): unknown {
  if (typeof value === "string" && value.includes("${{"))
    return wiredText(draft, value, ["steps", at.index, ...at.path]);
  const name = at.path.findLast((part) => typeof part === "string");
  const path = ["steps", at.index, ...at.path];
  const place = draft.values.find(value, name);
  if (place !== undefined) {
    guessPlace(draft, path, place);
    return whole(place.expression);
  }
  const below = (key: string | number, inner: unknown): unknown =>
    wired(draft, inner, { ...at, path: [...at.path, key] });
  if (Array.isArray(value)) return value.map((item, index) => below(index, item));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, below(key, inner)]));
  if (looksLikeParameter(at.type, at.path, value)) {
    const reason = `it was written in ${formatPath(path)}`;
    return whole(
      `inputs.${proposeInput(draft, { name: name ?? "value", value, stepId: at.stepId, reason })}`,
    );
  }
  return typeof value === "string" ? wiredText(draft, value, path) : value;
}

/** A text with references instead of the values of earlier outputs and of inputs in it. Its expressions stay as they are. */
function wiredText(draft: Draft, text: string, path: Path): string {
  const parts = text.split(/(\$\{\{.*?\}\})/s);
  return parts.map((part, index) => (index % 2 === 1 ? part : wiredPart(draft, part, path))).join("");
}

function wiredPart(draft: Draft, text: string, path: Path): string {
  // Placeholders, so that nothing is found inside of what was put in before.
  const expressions: string[] = [];
  let result = text;
  const replace = (written: string, expression: string): void => {
    expressions.push(whole(expression));
    result = result.replaceAll(written, `\uE000${expressions.length - 1}\uE000`);
  };
  for (const { place, written } of draft.values.findWithin(text)) {
    guessPlace(draft, path, place);
    replace(written, place.expression);
  }
  for (const [name, value] of Object.entries(draft.inputs.values())) {
    if (typeof value !== "string" || value.length < MIN_INPUT_IN_TEXT || !result.includes(value)) continue;
    draft.guesses.push({
      path: formatPath(path),
      message: `reads inputs.${name}, because the text contains its value: ${shown(value)}.`,
    });
    replace(value, `inputs.${name}`);
  }
  return result.replaceAll(
    /\uE000(\d+)\uE000/g,
    (written, index: string) => expressions[Number(index)] ?? written,
  );
}

/** Makes the dates of a query, and the values of earlier outputs in it, parameters. */
function takeOutOfQuery(
  draft: Draft,
  step: Record<string, unknown>,
  { id, index }: { id: string; index: number },
): void {
  const params: Record<string, unknown> = { ...(step["params"] as Record<string, unknown> | undefined) };
  const query = takeOutLiterals(step["query"] as string, ({ value, column }) => {
    const place = draft.values.find(value, column);
    const isParameter = typeof value === "string" && isDate(value);
    if (place === undefined && !isParameter) return undefined;
    const base = column?.toLowerCase() ?? place?.name ?? "date";
    const reason = `it was written in ${formatPath(["steps", index, "query"])}`;
    const expression =
      place?.expression ?? `inputs.${proposeInput(draft, { name: base, value, stepId: id, reason })}`;
    const name = freeParameter(params, base, whole(expression));
    params[name] = whole(expression);
    if (place !== undefined) guessPlace(draft, ["steps", index, "query"], place);
    return name;
  });
  if (query === step["query"]) return;
  draft.changedQueries += 1;
  step["query"] = query;
  step["params"] = params;
}

function freeParameter(params: Readonly<Record<string, unknown>>, base: string, value: string): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? base : `${base}_${count}`;
    if (!Object.hasOwn(params, name) || params[name] === value) return name;
  }
}

/**
 * The trail as an example. Steps that do more than compute are given their recorded outputs, as far as these are small: so
 * publishing executes none of them, and what is computed from them is certain.
 */
function exampleOf(
  { ids, inputs, guesses }: Draft,
  trail: readonly TrailStep[],
  types: ReadonlyMap<string, AnyStepType>,
): Record<string, unknown> | undefined {
  const given: Record<string, unknown> = {};
  let isCertain = true;
  for (const { runId, step, output } of trail) {
    if (types.get(step.type)?.compute !== undefined) continue;
    const isRepeated = step["for_each"] !== undefined || step["repeat"] !== undefined;
    if (isRepeated || JSON.stringify(output).length > MAX_GIVEN_CHARS) isCertain = false;
    else given[ids.get(runId)!] = output;
  }
  const last = trail.at(-1)!;
  const isComputed = types.get(last.step.type)?.compute !== undefined;
  const example = {
    name: "As it was tried",
    inputs: inputs.values(),
    ...(Object.keys(given).length > 0 && { given }),
    ...(isCertain && isComputed && { expect: last.output }),
  };
  if (JSON.stringify(example).length > MAX_EXAMPLE_CHARS) {
    guesses.push({
      path: "examples",
      message: "is left out: the values of the trail are too large for an example",
    });
    return undefined;
  }
  return example;
}
