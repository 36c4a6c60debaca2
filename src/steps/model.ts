import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { JsonSchemaObject } from "../../schemas/field-values.ts";
import type { NamedConnection, PartialIssue } from "../core/connections.ts";
import { nearMatch } from "../core/near-match.ts";
import { ANY, NUMBER, nullable, objectOf, STRING, type Shape } from "../core/shapes.ts";
import { asWritten } from "./as-written.ts";
import { defineStepType, literal, template } from "../core/step-type.ts";
import type { SpanAttributes } from "../core/tracer.ts";
import { schemaIssues, shapeOfReturnedValue } from "../core/json-schema/index.ts";
import { CORRECT_ENTRY } from "../core/unusable-entries.ts";

/** Maximum length of a prompt, in characters. Its bytes are limited when the step runs. */
const MAX_LENGTH = 1024 * 1024;

const outputOf = (answer: Readonly<Record<string, Shape>>): Shape =>
  objectOf({
    ...answer,
    usage: objectOf({ input_tokens: NUMBER, output_tokens: NUMBER, cost: nullable(NUMBER) }),
    finish_reason: STRING,
  });

export const modelStep = defineStepType({
  type: "model",
  title: "Ask a model",
  description:
    "Calls a configured model once. Without output_schema the answer is in text. With it the answer is in object: it " +
    "is validated against the schema, and the model gets one chance to correct it.",
  fields: {
    model: literal(
      text(63, 1).meta({ description: "The name of a model in the configuration.", example: "writer" }),
    ),
    prompt: template(
      text(MAX_LENGTH, 1).meta({
        description: "The prompt. Lists and objects in it become JSON.",
        example: "Two sentences for a manager, from these rows only:\n${{ steps.revenue.rows }}",
      }),
    ),
    system: template(
      text(MAX_LENGTH).optional().meta({
        description: "The system prompt: the role of the model and the style of its answers.",
        example: "You write for people in a hurry.",
      }),
    ),
    output_schema: literal(
      JsonSchemaObject.optional().meta({
        description: "A JSON Schema (draft 2020-12) for the answer. Patterns are in RE2 syntax.",
        example: {
          type: "object",
          properties: { mood: { enum: ["good", "bad"] } },
          required: ["mood"],
          additionalProperties: false,
        },
      }),
    ),
    max_output_tokens: literal(
      z.int().min(1).max(1_000_000).optional().meta({
        description: "Maximum length of the answer, in tokens. Default: the limit of the vendor.",
        example: 1_000,
      }),
    ),
    temperature: literal(
      z.number().min(0).max(2).optional().meta({
        description:
          "Randomness of the answer: 0 for the same answer each time, as far as the vendor supports it.",
        example: 0,
      }),
    ),
  },
  example: {
    id: "summary",
    type: "model",
    model: "writer",
    prompt: "Two sentences for a manager, from these rows only:\n${{ steps.revenue.rows }}",
  },
  output: outputOf({ text: nullable(STRING), object: ANY }),
  timeoutMs: 120_000,
  hasEffects: () => false,
  meteredResource: () => "model_tokens",
  resource: (step) => `model:${String(step["model"])}`,
  describeEffect: ({ model }, { connections }) => {
    const entry = connections.models.list().find(({ name }) => name === model);
    const name = asWritten(model);
    const words = `Sends a prompt to the model ${name}${entry === undefined ? "" : ` (${entry.type} ${entry.model_ref})`}`;
    return { words, does: "sends", targets: [name] };
  },
  spanAttributes({ model }, connections): SpanAttributes {
    const entry = connections.models.list().find(({ name }) => name === model);
    if (entry === undefined) return {};
    return {
      "gen_ai.operation.name": "chat",
      // Both the current attribute name and the one that many tools still use.
      "gen_ai.provider.name": entry.type,
      "gen_ai.system": entry.type,
      "gen_ai.request.model": entry.model_ref,
    };
  },
  check: ({ model, output_schema: schema }, ctx) => {
    const issues = modelIssues(String(model), ctx.connections.models.list());
    if (schema === undefined) return Promise.resolve({ issues, output: outputOf({ text: STRING }) });
    const outputSchemaIssues = schemaIssues(schema).map((issue): PartialIssue => {
      const { path = [] } = issue;
      return Object.assign({}, issue, { path: ["output_schema", ...path] });
    });
    return Promise.resolve({
      issues: [...issues, ...outputSchemaIssues],
      output: outputOf({ object: outputSchemaIssues.length === 0 ? shapeOfReturnedValue(schema) : ANY }),
    });
  },
  async run({ model, prompt, system, output_schema, max_output_tokens, temperature }, ctx) {
    const {
      text: answerText,
      object,
      usage,
      finish_reason,
    } = await ctx.connections.models.generate(
      {
        model,
        prompt,
        system,
        outputSchema: output_schema,
        maxOutputTokens: max_output_tokens,
        temperature,
        trace: ctx.trace,
      },
      ctx,
    );
    const answer = output_schema === undefined ? { text: answerText } : { object };
    return { kind: "done", output: { ...answer, usage, finish_reason }, usage };
  },
});

function modelIssues(name: string, models: readonly NamedConnection[]): PartialIssue[] {
  const entry = models.find((model) => model.name === name);
  if (entry !== undefined)
    return entry.unavailableReason === null
      ? []
      : [
          {
            path: ["model"],
            code: "environment",
            message: entry.unavailableReason,
            fix: CORRECT_ENTRY,
          },
        ];
  const allowed = models.map((model) => model.name);
  const near = nearMatch(name, allowed);
  return [
    {
      path: ["model"],
      code: "unknown_model",
      message: `must be the name of a configured model, got ${name.slice(0, 100)}`,
      allowed,
      ...(near !== undefined && { did_you_mean: near }),
      fix:
        near !== undefined
          ? `Write ${near}.`
          : allowed.length === 0
            ? "No model is configured: ask the operator to add one to models in the configuration."
            : "Use one of the allowed names, or ask the operator to add the model to the configuration.",
    },
  ];
}
