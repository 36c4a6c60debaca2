/**
 * The guide to the workflow language, for agents and people. Made from what the checker itself goes by: the fields,
 * their descriptions and examples stand in one place only.
 */
import { z } from "zod";
import { COMMON_STEP_FIELDS, TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { formatShape } from "../../src/core/format-shape.ts";
import { STEP_ERRORS } from "../../src/core/step-errors.ts";
import type { AnyStepType, Field } from "../../src/core/step-type.ts";
import { toYaml } from "../../src/engine/definition/check/index.ts";
import { FUNCTIONS } from "../../src/engine/definition/expressions/functions.ts";
import { LOOPS } from "../../src/engine/definition/expressions/loops.ts";

/** What there is a guide to, beside each step type. */
export const TOPICS = ["definition", "expressions"] as const;

/** The guide to a topic; undefined where there is none. */
export function getGuide(topic: string, stepTypes: readonly AnyStepType[]): string | undefined {
  if (topic === "definition") return definitionGuide(stepTypes);
  if (topic === "expressions") return expressionsGuide();
  const type = stepTypes.find((one) => one.type === topic);
  return type && stepGuide(type);
}

const shown = (value: unknown): string => JSON.stringify(value);

function fieldLine(name: string, schema: z.ZodType, kind?: Field["kind"]): string {
  const meta = described(schema);
  const required = schema.safeParse(undefined).success ? "" : "required; ";
  const takes = kind === "cel" ? "one CEL expression; " : kind === "literal" ? "no expressions; " : "";
  const example = meta.example === undefined ? "" : ` Example: \`${shown(meta.example)}\``;
  const parts = partsOf(schema).map(([part, inner]) => `\n  ${fieldLine(part, inner)}`);
  return `- \`${name}\` (${required}${takes}${typeText(schema)}): ${meta.description ?? ""}${example}${parts.join("")}`;
}

/** The fields of one that is an object of its own, such as `retry`. */
function partsOf(schema: z.ZodType): [string, z.ZodType][] {
  const { def } = schema as {
    def?: { type?: string; shape?: Record<string, z.ZodType>; innerType?: z.ZodType };
  };
  if (def?.innerType !== undefined) return partsOf(def.innerType);
  return def?.type === "object" ? Object.entries(def.shape ?? {}) : [];
}

/** What is said of a schema: by itself, or by the one that it makes optional. */
function described(schema: z.ZodType): { description?: string; example?: unknown } {
  const inner = (schema as { def?: { innerType?: z.ZodType } }).def?.innerType;
  return { ...(inner && described(inner)), ...(schema.meta() as object | undefined) };
}

interface TypedSchema {
  type?: string;
  enum?: unknown[];
  anyOf?: TypedSchema[];
  items?: TypedSchema;
  default?: unknown;
}

const JSON_WORDS: Readonly<Record<string, string>> = {
  string: "text",
  array: "list",
  integer: "whole number",
  boolean: "true or false",
};

function typeText(schema: z.ZodType): string {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as TypedSchema;
  const standard = json.default === undefined ? "" : `, ${shown(json.default)} when left out`;
  return `${wordOf(json)}${standard}`;
}

function wordOf({ type, enum: values, anyOf, items }: TypedSchema): string {
  if (values !== undefined) return values.map(String).join(" | ");
  if (anyOf !== undefined) return [...new Set(anyOf.map(wordOf))].join(" or ");
  if (type === "array" && items?.type !== undefined) return `list of ${wordOf(items)}`;
  return type === undefined ? "any value" : (JSON_WORDS[type] ?? type);
}

function stepGuide(type: AnyStepType): string {
  const fields = Object.entries(type.fields as Readonly<Record<string, Field>>);
  const own = new Set(fields.map(([name]) => name));
  const common = Object.keys(COMMON_STEP_FIELDS).filter((name) => !own.has(name));
  return [
    `# Step type ${type.type}: ${type.title}`,
    type.description,
    `Gives \`steps.<id>\` = \`${formatShape(type.output)}\`, and \`status\`, \`error\`.` +
      (type.timeoutMs === null
        ? ""
        : ` An attempt may take ${type.timeoutMs / 1_000} s unless timeout says otherwise.`),
    "Fields (those that say nothing else take `${{ }}` in their texts):",
    fields.map(([name, { schema, kind }]) => fieldLine(name, schema, kind)).join("\n"),
    `Also, as every step: ${common.map((name) => `\`${name}\``).join(", ")} (topic definition).`,
    `\`\`\`yaml\n${toYaml({ steps: [type.example] })}\`\`\``,
  ].join("\n\n");
}

function definitionGuide(stepTypes: readonly AnyStepType[]): string {
  return [
    "# The definition of a workflow",
    "JSON (an object), or YAML or JSON text. `steps` is a flat list in the order of running: a step waits for the one " +
      "before it, unless `needs` names others; `needs: []` starts at once, so steps run side by side. Unknown keys are refused.",
    "Values come from `${{ … }}`, one CEL expression (topic expressions): `inputs`, `run` (id, workflow_id, trigger, " +
      "started_at, scheduled_for), `steps.<id>` of steps that come before, and in a fan-out `item` and `index`. A text " +
      "that is one whole `${{ }}` keeps its type. In YAML, quote them.",
    "## At the top",
    ["- `steps` (required; list of steps): what it does."]
      .concat(Object.entries(TOP_FIELDS).map(([name, schema]) => fieldLine(name, schema)))
      .join("\n"),
    "## In every step",
    ["- `type` (required): one of those below."]
      .concat(Object.entries(COMMON_STEP_FIELDS).map(([name, schema]) => fieldLine(name, schema)))
      .join("\n"),
    "## Step types (each is a topic with its fields)",
    stepTypes
      .map(
        ({ type, description, output }) => `- \`${type}\`: ${description} Gives \`${formatShape(output)}\`.`,
      )
      .join("\n"),
    "## An example",
    `\`\`\`yaml\n${toYaml(EXAMPLE_DEFINITION)}\`\`\``,
    "## When a step fails",
    "The run fails, unless the step says `on_error: continue`. `retry` repeats it after errors that may go away by " +
      `themselves: ${Object.entries(STEP_ERRORS)
        .filter(([, { transient }]) => transient)
        .map(([code]) => code)
        .join(", ")}; \`retry.on\` names others.`,
    "## Next",
    "validate_workflow (POST /workflows/validate) tells every fault at once. A step's `error` is {code, message, fix?}. To stop a schedule: take it out and publish again.",
  ].join("\n\n");
}

/** Runs anywhere: it needs nothing of the environment. */
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
    "CEL (the Common Expression Language), typed and without side effects, inside `${{ }}`; `if`, `that` and `for_each` " +
      "take it bare. A JSON number is a number: `5 / 2 == 2.5`, `n % 2 == 1`.",
    'Operators: `+ - * / %`, `== != < <= > >=`, `&& || !`, `x in list`, `cond ? a : b`, `a.b`, `a[0]`, `a["key"]`, ' +
      '`[1, 2]`, `{"k": v}`. Over lists: `list.map(x, …)`, `list.filter(x, …)`, `list.all(x, …)`, `list.exists(x, …)`, ' +
      "`list.exists_one(x, …)`, `has(a.b)`.",
    "A field of null is null; null is nothing in text and false as a condition; anything else done with it fails as " +
      "`null_value`: guard it, `has(x.y) ? x.y : 0`. Regular expressions are RE2.",
    "`$${{` writes a literal `${{`. Anything heavier than picking and shaping belongs into SQL.",
    "## Functions (each also as `name(first, …)`)",
    Object.entries(FUNCTIONS)
      .map(([name, { usage }]) => `- \`${name}\`: \`${usage}\``)
      .join("\n"),
    "## Over lists",
    Object.entries(LOOPS)
      .map(([name, usage]) => `- \`${name}\`: \`${usage}\``)
      .join("\n"),
  ].join("\n\n");
}
