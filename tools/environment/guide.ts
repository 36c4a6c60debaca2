/**
 * The guide to the workflow language, for agents and people. It is generated from the schemas that the checker uses, so
 * fields, descriptions and examples are written in one place only.
 */
import { z } from "zod";
import { MAX_ITERATIONS } from "../../schemas/repeat.ts";
import { COMMON_STEP_FIELDS, MAX_STEPS, TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { formatShape } from "../../src/core/format-shape.ts";
import { STEP_ERRORS } from "../../src/core/step-errors.ts";
import type { AnyStepType, Field } from "../../src/core/step-type.ts";
import { MAX_ITEMS, MAX_OUTPUT_CHARS } from "../../src/engine/executor/step-values.ts";
import { MAX_CALL_DEPTH } from "../../src/engine/run-state/pin-calls.ts";
import { MAX_ROWS } from "../../src/steps/sql.ts";
import { MAX_BYTES, toYaml } from "../../src/engine/definition/check/index.ts";
import { FUNCTIONS } from "../../src/engine/definition/expressions/functions.ts";
import { NOTES } from "./guide-notes.ts";
import { MAX_EXPRESSION_LENGTH } from "../../src/engine/definition/expressions/limits.ts";
import { LOOPS } from "../../src/engine/definition/expressions/loops.ts";

/** The topics of the guide, besides the step types. */
export const TOPICS = ["definition", "expressions"] as const;

/** The guide to a topic, in Markdown, also to one field or function; undefined for an unknown topic. */
export function getGuide(topic: string, stepTypes: readonly AnyStepType[]): string | undefined {
  if (topic === "definition") return definitionGuide(stepTypes);
  if (topic === "expressions") return expressionsGuide();
  const type = stepTypes.find((candidate) => candidate.type === topic);
  return type ? stepGuide(type) : wordGuide(topic, stepTypes);
}

/** The names of fields, functions and loops, and what has a note: each is a topic of its own, and so is each field of a step type. */
export const WORDS: readonly string[] = [
  ...new Set(
    [FUNCTIONS, LOOPS, COMMON_STEP_FIELDS, TOP_FIELDS, NOTES].flatMap((words) => Object.keys(words)),
  ),
];

/** What one field or function is; a name can be a field beside `steps` and one of several types of steps. */
function wordGuide(word: string, stepTypes: readonly AnyStepType[]): string | undefined {
  const has = (words: object): boolean => Object.hasOwn(words, word);
  const [common, top] = [COMMON_STEP_FIELDS, TOP_FIELDS] as readonly Readonly<Record<string, z.ZodType>>[];
  const own = stepTypes.flatMap(({ type, fields }) => {
    const field = Object.hasOwn(fields, word) ? (fields as Readonly<Record<string, Field>>)[word] : undefined;
    return field === undefined
      ? []
      : [`Of a step of type ${type}: ${fieldLine(word, field.schema, field.kind)}`];
  });
  const lines = [
    ...(has(COMMON_STEP_FIELDS) ? [`Of a step: ${fieldLine(word, common![word]!)}`] : []),
    ...(has(TOP_FIELDS) ? [`Beside steps: ${fieldLine(word, top![word]!)}`] : []),
    ...own,
    ...(has(FUNCTIONS) ? [functionLine(word, FUNCTIONS[word]!.usage)] : []),
    ...(has(LOOPS) ? [functionLine(word, LOOPS[word as keyof typeof LOOPS])] : []),
  ];
  const parts = [...(lines.length > 0 ? [lines.join("\n")] : []), ...(has(NOTES) ? [NOTES[word]!] : [])];
  return parts.length === 0 ? undefined : parts.join("\n\n");
}

const functionLine = (name: string, usage: string): string => `- \`${name}\`: \`${usage}\``;

const toJson = (value: unknown): string => JSON.stringify(value);

function fieldLine(name: string, schema: z.ZodType, kind?: Field["kind"]): string {
  const meta = metaOf(schema);
  const required = schema.safeParse(undefined).success ? "" : "required; ";
  const syntax = kind === "cel" ? "one CEL expression; " : kind === "literal" ? "no expressions; " : "";
  const example = meta.example === undefined ? "" : ` Example: \`${toJson(meta.example)}\``;
  const parts = partsOf(schema).map(([part, inner]) => `\n  ${fieldLine(part, inner)}`);
  return `- \`${name}\` (${required}${syntax}${typeText(schema)}): ${meta.description ?? ""}${example}${parts.join("")}`;
}

/** The fields of an object, such as `retry`; empty for any other type. */
function partsOf(schema: z.ZodType): [string, z.ZodType][] {
  const { def } = schema as {
    def?: { type?: string; shape?: Record<string, z.ZodType>; innerType?: z.ZodType };
  };
  if (def?.innerType !== undefined) return partsOf(def.innerType);
  return def?.type === "object" ? Object.entries(def.shape ?? {}) : [];
}

/** Description and example of a schema, or of the one that it makes optional. */
function metaOf(schema: z.ZodType): { description?: string; example?: unknown } {
  const inner = (schema as { def?: { innerType?: z.ZodType } }).def?.innerType;
  return { ...(inner && metaOf(inner)), ...(schema.meta() as object | undefined) };
}

interface TypedSchema {
  type?: string;
  enum?: unknown[];
  anyOf?: TypedSchema[];
  items?: TypedSchema;
  default?: unknown;
}

const TYPE_NAMES: Readonly<Record<string, string>> = { string: "text", array: "list" };

function typeText(schema: z.ZodType): string {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as TypedSchema;
  const defaultText = json.default === undefined ? "" : `, default ${toJson(json.default)}`;
  return `${typeName(json)}${defaultText}`;
}

function typeName({ type, enum: values, anyOf, items }: TypedSchema): string {
  if (values !== undefined) return values.map(String).join(" | ");
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeName))].join(" or ");
  if (type === "array" && items?.type !== undefined) return `list of ${typeName(items)}`;
  return type === undefined ? "any value" : (TYPE_NAMES[type] ?? type);
}

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
    "A JSON object, or YAML or JSON text. `steps` is a flat list. Each step waits for the one before it, unless `needs` " +
      "names other steps; with `needs: []` it starts immediately, so steps can run in parallel. Unknown keys are refused.",
    "`${{ … }}` contains one CEL expression (topic expressions). It can use `inputs`, `run` (id, workflow_id, trigger, " +
      "started_at and scheduled_for as text such as 2026-11-21T08:00:00.000Z, event_urls), `state`, `steps.<id>` of earlier steps, in a fan-out `item` and `index`, " +
      "in a repeated step `loop`; in `triggers` only `event` (body, headers, query, id, received_at). A text that " +
      "consists of a single `${{ }}` keeps the type of the value. In YAML, quote such texts.",
    "## Top-level fields",
    ["- `steps` (required; list of steps): the steps."]
      .concat(Object.entries(TOP_FIELDS).map(([name, schema]) => fieldLine(name, schema)))
      .join("\n"),
    "## Fields of every step",
    ["- `type` (required): one of the step types below."]
      .concat(Object.entries(COMMON_STEP_FIELDS).map(([name, schema]) => fieldLine(name, schema)))
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
    "The run fails, unless the step has `on_error: continue`; `undo` takes back what succeeded steps did. `retry` repeats the step after transient errors: " +
      `${Object.entries(STEP_ERRORS)
        .filter(([, { transient }]) => transient)
        .map(([code]) => code)
        .join(", ")}; \`retry.on\` names others.`,
    "## Limits",
    `${MAX_STEPS} steps; ${MAX_BYTES / 1024 / 1024} MiB of definition; expressions of ${MAX_EXPRESSION_LENGTH} characters. ` +
      `Rows of a query: max_rows, 1000 unless set, ${MAX_ROWS} at most. Output of a step or a run: ${MAX_OUTPUT_CHARS / 1024 / 1024} MiB. ` +
      `for_each: ${MAX_ITEMS} items; repeat: ${MAX_ITERATIONS} iterations; workflows that run workflows: ${MAX_CALL_DEPTH} levels. ` +
      "Larger values fail the step, with a fix; nothing is cut silently.",
    "## Next",
    "query_database shows rows; run_step runs one step alone, with its effects; create_workflow with `from` (their run ids) makes a workflow of what you tried, with `guesses` to check. validate_workflow (POST /workflows/validate) returns all issues at once; with apply_fixes: true it applies the `patch` of each and returns the fixed definition. A step's `error` is {code, message, fix?}. Before a draft has effects: plan_workflow says what a run would read, write and send; run_workflow with given: {} runs it as a trial up to the first step with effects and shows what that would send. Past times of a schedule: POST /workflows/{workflow_id}/backfills. To stop a schedule, remove it from the definition and publish again. If publish_workflow answers missing_scope, the draft is saved: tell a person its id and version, and ask them to publish it.",
    "## When publishing makes a change request",
    "If the answer of publish_workflow has `review`, another person has to approve the version first. Until then nothing is live, what was published before stays live, and you can run the draft. Give the person you work for review.url. " +
      'get_workflow with include: ["last_review"] shows its `status`: `pending`: wait, and publish nothing again; `approved`: it is live; `rejected`: read `comment`, change the draft with update_workflow, and publish again, which makes a new request; any other: read the workflow again before you publish.',
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
