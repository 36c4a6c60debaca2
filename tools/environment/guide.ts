/**
 * The guide to the workflow language, for agents and people. It is generated from the schemas that the checker uses, so
 * fields, descriptions and examples are written in one place only.
 */
import { MAX_ITERATIONS } from "../../schemas/repeat.ts";
import { COMMON_STEP_FIELDS, MAX_STEPS, TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { ERRORS } from "../../src/core/errors.ts";
import { formatShape } from "../../src/core/format-shape.ts";
import { STEP_ERRORS } from "../../src/core/step-errors.ts";
import type { AnyStepType, Field } from "../../src/core/step-type.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { MAX_ITEMS, MAX_OUTPUT_CHARS } from "../../src/engine/executor/step-values.ts";
import { MAX_CALL_DEPTH } from "../../src/engine/run-state/pin-calls.ts";
import { DEFAULT_MAX_ROWS, MAX_ROWS } from "../../src/steps/sql.ts";
import { MAX_BYTES, toYaml } from "../../src/engine/definition/check/index.ts";
import { FUNCTIONS } from "../../src/engine/definition/expressions/functions.ts";
import { fieldLine } from "./field-line.ts";
import { definitionFields, operationFields, placeLines } from "./guide-fields.ts";
import { INTERRUPTIONS_LINE, NOTES, OF_INTERRUPTIONS, STEPS_LINE, VARIABLES } from "./guide-notes.ts";
import { joinGuides, readTopics } from "./topics.ts";
import { MAX_EXPRESSION_LENGTH } from "../../src/engine/definition/expressions/limits.ts";
import { LOOPS } from "../../src/engine/definition/expressions/loops.ts";

/** The topics of the guide, besides the step types. */
export const TOPICS = ["definition", "expressions"] as const;

/** The guide to a topic, in Markdown, also to one field or function; undefined for an unknown topic. */
export function getGuide(
  topic: string,
  stepTypes: readonly AnyStepType[],
  operations: readonly AnyTool[],
): string | undefined {
  if (topic === "definition") return definitionGuide(stepTypes);
  if (topic === "expressions") return expressionsGuide();
  const type = stepTypes.find((candidate) => candidate.type === topic);
  const word = wordGuide(topic, stepTypes, operations);
  if (type === undefined) return word;
  return joinGuides([
    { text: stepGuide(type), isWhole: true },
    { text: word ?? "", isWhole: false },
  ]);
}

/** The guides to several topics, as one text in which nothing is twice. */
export interface Guides {
  /** Empty if none of the topics is known. */
  guide: string;
  /** The topics that there are not, as they were written. */
  unknown: string[];
  /** The names of all fields, functions and notes. */
  words: ReadonlySet<string>;
}

/** @param asked topics as agents write them, several of them in one text, too */
export function getGuides(
  asked: readonly string[],
  stepTypes: readonly AnyStepType[],
  operations: readonly AnyTool[],
): Guides {
  const words = wordsOf(stepTypes, operations);
  const isKnown = (topic: string): boolean => isWhole(topic, stepTypes) || words.has(topic);
  const { topics, unknown } = readTopics(asked, isKnown);
  const guides = topics.map((topic) => ({
    text: getGuide(topic, stepTypes, operations)!,
    isWhole: isWhole(topic, stepTypes),
  }));
  return { guide: joinGuides(guides), unknown, words };
}

/** Whether a topic is a part of the language as a whole, and not one word of it. */
const isWhole = (topic: string, stepTypes: readonly AnyStepType[]): boolean =>
  (TOPICS as readonly string[]).includes(topic) || stepTypes.some(({ type }) => type === topic);

/** The names of fields, functions and loops, and what has a note: each is a topic of its own. */
const wordsOf = (stepTypes: readonly AnyStepType[], operations: readonly AnyTool[]): ReadonlySet<string> =>
  new Set([
    ...definitionFields(stepTypes).keys(),
    ...operations.map(({ name }) => name),
    ...[FUNCTIONS, LOOPS, NOTES, STEP_ERRORS, ERRORS].flatMap((words) => Object.keys(words)),
    ...operationFields(operations).running.keys(),
    ...operationFields(operations).others.keys(),
  ]);

/** Maximum number of lines about operations that take a field of one name: tools/list describes the others. */
const MAX_OPERATION_LINES = 3;

/**
 * What a word is: a field of definitions, in each of its places, a function, a field of operations that run what a definition says, and
 * what a note says of it. Fields of other operations count only where the language has no such word.
 */
function wordGuide(
  word: string,
  stepTypes: readonly AnyStepType[],
  operations: readonly AnyTool[],
): string | undefined {
  const has = (words: object): boolean => Object.hasOwn(words, word);
  const { running, others } = operationFields(operations);
  const language = [
    ...placeLines(definitionFields(stepTypes).get(word) ?? []),
    ...(has(FUNCTIONS) ? [functionLine(word, FUNCTIONS[word]!.usage)] : []),
    ...(has(LOOPS) ? [functionLine(word, LOOPS[word as keyof typeof LOOPS])] : []),
    ...errorLines(word),
    ...operations.filter(({ name }) => name === word).map(operationLine),
  ];
  const taken = [...(running.get(word) ?? []), ...(language.length > 0 ? [] : (others.get(word) ?? []))];
  const lines = [...language, ...placeLines(taken).slice(0, MAX_OPERATION_LINES)];
  const parts = [...(lines.length > 0 ? [lines.join("\n")] : []), ...(has(NOTES) ? [NOTES[word]!] : [])];
  return parts.length === 0 ? undefined : parts.join("\n\n");
}

function errorLines(word: string): string[] {
  const { title, transient } = lookUp(STEP_ERRORS, word) ?? {};
  const answer = lookUp(ERRORS, word);
  return [
    ...(title === undefined
      ? []
      : [
          `- \`${word}\`, an error code of steps: ${title}. \`retry\` repeats it ${transient ? "unless `on` names others" : "only if `on` names it"}.`,
        ]),
    ...(answer === undefined
      ? []
      : [
          `- \`${word}\`, an error code of calls (${answer.status}): ${answer.title}. Its detail and errors say what to do.`,
        ]),
  ];
}

const lookUp = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;

const operationLine = ({ name, route, description, surfaces }: AnyTool): string =>
  `- \`${name}\` (${surfaces?.includes("mcp") === false ? "not over MCP: " : ""}${route}): ${description}`;

const functionLine = (name: string, usage: string): string => `- \`${name}\`: \`${usage}\``;

function stepGuide(type: AnyStepType): string {
  const fields = Object.entries(type.fields as Readonly<Record<string, Field>>);
  const ownFields = new Set(fields.map(([name]) => name));
  const common = Object.keys(COMMON_STEP_FIELDS).filter((name) => !ownFields.has(name));
  return [
    `# Step type ${type.type}: ${type.title}`,
    type.description,
    `Output: \`steps.<id>\` = \`${formatShape(type.output)}\`, with \`status\` and \`error\`.` +
      (type.timeoutMs === null
        ? ""
        : ` An attempt times out after ${type.timeoutMs / 1_000} s, unless timeout is set, at most 1h (the operator can set another maximum).`),
    "Fields (texts may contain `${{ }}`, unless a field says otherwise):",
    fields.map(([name, { schema, kind }]) => fieldLine(name, schema, kind)).join("\n"),
    `Fields of every step: ${common.map((name) => `\`${name}\``).join(", ")} (topic definition).`,
    `\`\`\`yaml\n${toYaml({ steps: [type.example] })}\`\`\``,
  ].join("\n\n");
}

function definitionGuide(stepTypes: readonly AnyStepType[]): string {
  return [
    "# The definition of a workflow",
    "A JSON object, or YAML or JSON text. `steps` is a flat list: each waits for the one before it, unless it has `needs`. " +
      "Unknown keys are refused.",
    VARIABLES,
    "## Top-level fields",
    [STEPS_LINE]
      .concat(Object.entries(TOP_FIELDS).map(([name, schema]) => fieldLine(name, schema)))
      .join("\n"),
    "## Fields of every step",
    ["- `type` (required): one of the step types."]
      .concat(
        Object.entries(COMMON_STEP_FIELDS)
          .filter(([name]) => !OF_INTERRUPTIONS.includes(name))
          .map(([name, schema]) => fieldLine(name, schema)),
        INTERRUPTIONS_LINE,
      )
      .join("\n"),
    "## Step types (the topic of each lists its fields)",
    stepTypes
      .map(
        ({ type, description, output }) =>
          `- \`${type}\`: ${description} Output: \`${formatShape(output)}\`.`,
      )
      .join("\n"),
    "## Example",
    `\`\`\`yaml\n${toYaml(EXAMPLE_DEFINITION)}\`\`\``,
    "## When a step fails",
    "The run fails, unless the step has `on_error: continue`; `undo` takes back what succeeded steps did. `retry` repeats it after transient errors: " +
      `${Object.entries(STEP_ERRORS)
        .filter(([, { transient }]) => transient)
        .map(([code]) => code)
        .join(", ")}; \`retry.on\` names others.`,
    "## Limits",
    `${MAX_STEPS} steps; ${MAX_BYTES / 1024 / 1024} MiB of definition; expressions of ${MAX_EXPRESSION_LENGTH} characters. ` +
      `Rows of a query: max_rows, ${DEFAULT_MAX_ROWS} unless set, ${MAX_ROWS} at most. Output of a step or a run: ${MAX_OUTPUT_CHARS / 1024 / 1024} MiB. ` +
      `for_each: ${MAX_ITEMS} items; repeat: ${MAX_ITERATIONS} iterations; workflows that run workflows: ${MAX_CALL_DEPTH} levels. ` +
      "Larger values fail the step.",
    "## Next",
    "query_database shows rows; run_step runs one step with its effects; create_workflow with `from` (their run ids) makes a workflow of what you tried. validate_workflow (POST /workflows/validate) returns all issues; with apply_fixes: true it applies the `patch` of each. Before a draft has effects: plan_workflow says what a run reads, writes and sends; run_workflow with given: {} runs a trial up to the first effect and shows what it would send; backtest_workflow repeats past runs. Past times of a schedule: POST /workflows/{workflow_id}/backfills. To stop a schedule, remove it from the definition and publish again. If publish_workflow answers missing_scope, the draft is saved: give a person its id and version to publish.",
    "## When publishing makes a change request",
    "If the answer of publish_workflow has `review`, another person has to approve the version first. Until then the version before stays live; you can run the draft. Give the person you work for review.url. " +
      'get_workflow with include: ["last_review"] shows its `status`: `pending`: wait; `approved`: it is live; `rejected`: read `comment`, change the draft, and publish again; any other: read the workflow again before you publish.',
  ].join("\n\n");
}

/** Runs everywhere, because it uses nothing of the environment. */
export const EXAMPLE_DEFINITION = {
  inputs: {
    type: "object",
    properties: {
      orders: {
        type: "array",
        items: {
          type: "object",
          properties: { region: { type: "string" }, amount: { type: "number" } },
          required: ["region", "amount"],
        },
        default: [
          { region: "north", amount: 120 },
          { region: "south", amount: 80 },
        ],
      },
    },
  },
  steps: [
    {
      id: "totals",
      type: "set",
      values: {
        sum: "${{ inputs.orders.map(o, o.amount).sum() }}",
        best: '${{ inputs.orders.sort_by(o, o.amount, "desc")[0].region }}',
      },
    },
    { id: "any_orders", type: "assert", that: "steps.totals.sum > 0", message: "There are no orders." },
  ],
  output: { best_region: "${{ steps.totals.best }}", total: "${{ steps.totals.sum }}" },
  examples: [{ inputs: {}, expect: { best_region: "north", total: 200 } }],
};

function expressionsGuide(): string {
  return [
    "# Expressions",
    "CEL (Common Expression Language) is typed and has no side effects. Write an expression inside `${{ }}`; `if`, `that`, " +
      "`for_each`, `repeat.until` and `next` take it without. All numbers have one type: `5 / 2 == 2.5`, `n % 2 == 1`. A number that a double can't hold (a 64-bit id) is " +
      "text of its digits everywhere, and counts as a number in operators, `sum`, `max`, `sort`, `round`, `int` and schemas.",
    'Operators: `+ - * / %`, `== != < <= > >=`, `&& || !`, `x in list`, `cond ? a : b`, `x ?? y` (y where x is null or absent),  `a.b`, `a[0]`, `a["key"]`, ' +
      '`[1, 2]`, `{"k": v}`. Over lists: `list.map(x, …)`, `list.filter(x, …)`, `list.all(x, …)`, `list.exists(x, …)`, ' +
      "`list.exists_one(x, …)`, `has(a.b)`.",
    "A field of null is null. Null is empty in text and false as a condition; any other use of it fails with " +
      "`null_value`, so write a default, `x.y ?? 0`, or test it, `x != null ? … : …`; a warning maybe_null says where. " +
      "`??` binds less tightly than every operator but `? :`, so write `(x ?? 0) > 5`. Regular expressions are RE2.",
    "Calendar functions take an optional time zone (default UTC) and keep the local time when the clocks change. " +
      "Values inside the text of a `url` are percent-encoded; `raw(x)` inserts x as it is.",
    "`$${{` writes a literal `${{`. Use SQL for anything beyond selecting and reshaping values.",
    "## Functions (each also as `name(first, …)`)",
    Object.entries(FUNCTIONS)
      .map(([name, { usage }]) => functionLine(name, usage))
      .join("\n"),
    "## Over lists",
    Object.entries(LOOPS)
      .map(([name, usage]) => functionLine(name, usage))
      .join("\n"),
  ].join("\n\n");
}
