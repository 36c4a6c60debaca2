import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { JsonSchemaObject } from "../../schemas/workflow-definition.ts";
import type { PartialIssue } from "../core/connections.ts";
import { ANY, BOOLEAN, nullable, objectOf, STRING, type Shape } from "../core/shapes.ts";
import { defineStepType, literal, template } from "../core/step-type.ts";
import { schemaIssues, shapeOfSchema } from "../core/json-schema/index.ts";

const outputOf = (form: Shape): Shape =>
  objectOf({ approved: BOOLEAN, by: STRING, comment: nullable(STRING), form });

export const approvalStep = defineStepType({
  type: "approval",
  title: "Ask a person",
  description:
    "Waits until a person approves or declines: decide_approval, over REST or through an agent. " +
    "The first decision counts. To decline is no failure: read approved in a later step's if. " +
    "timeout says how long it waits; then it fails as approval_timeout.",
  fields: {
    message: template(
      text(10_000, 1).meta({
        description: "What the person is asked, with what they need to decide.",
        example: "Send this to the team? ${{ steps.summary.text }}",
      }),
    ),
    form: literal(
      JsonSchemaObject.optional().meta({
        description: "What to fill in: a JSON Schema of an object. The answers stand in form.",
        example: {
          type: "object",
          properties: { budget: { type: "number", minimum: 0 } },
          required: ["budget"],
        },
      }),
    ),
    assignees: template(
      z
        .array(z.email({ error: "must be a mail address" }))
        .max(50)
        .default([])
        .meta({ description: "Mail addresses of those who are told.", example: ["ada@example.com"] }),
    ),
  },
  example: {
    id: "approve",
    type: "approval",
    message: "Send this to the team? ${{ steps.summary.text }}",
    timeout: "2d",
  },
  output: outputOf(nullable(ANY)),
  timeoutMs: null,
  runScoped: true,
  hasEffects: () => false,
  resource: () => null,
  check: (step) => {
    const form = step["form"];
    if (form === undefined) return Promise.resolve({ issues: [], output: outputOf({ kind: "null" }) });
    return Promise.resolve({ issues: formIssues(form), output: outputOf(nullable(shapeOfSchema(form))) });
  },
  run: ({ message, form, assignees }) =>
    Promise.resolve({ kind: "approval", message, form: form ?? null, assignees }),
});

function formIssues(form: unknown): PartialIssue[] {
  const { type } = form as { type?: unknown };
  if (type !== "object")
    return [
      {
        path: ["form", "type"],
        code: type === undefined ? "missing" : "not_allowed",
        message: "must be object: a form has named fields",
        allowed: ["object"],
        fix: 'Write {"type": "object", "properties": {…}}.',
      },
    ];
  return schemaIssues(form).map((issue) =>
    Object.assign({}, issue, { path: ["form", ...(issue.path ?? [])] }),
  );
}
