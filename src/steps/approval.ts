import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { EXPRESSION_PATTERN, JsonSchemaObject } from "../../schemas/field-values.ts";
import type { Mailer, PartialIssue } from "../core/connections.ts";
import { ANY, BOOLEAN, nullable, objectOf, STRING, type Shape } from "../core/shapes.ts";
import { defineStepType, literal, template, type UnresolvedStep } from "../core/step-type.ts";
import { schemaIssues, shapeOfSchema } from "../core/json-schema/index.ts";
import { allAsWritten, asWritten } from "./as-written.ts";
import { recipientIssues } from "./recipient-issues.ts";

const outputOf = (form: Shape): Shape =>
  objectOf({ approved: BOOLEAN, by: STRING, comment: nullable(STRING), form });

export const approvalStep = defineStepType({
  type: "approval",
  title: "Ask a person",
  description:
    "Waits until a person approves or declines with decide_approval, over REST or through an agent. " +
    "The first decision counts; with assignees only they can decide, and never those who started the run or wrote what it runs, " +
    "unless the operator allows it. The decision is for exactly what can still run. Declining is not a failure: test approved in the if of a later step. " +
    "After timeout it fails with approval_timeout.",
  fields: {
    message: template(
      text(10_000, 1).meta({
        description: "The question, with what the person needs to know for the decision.",
        example: "Send this to the team? ${{ steps.summary.text }}",
      }),
    ),
    form: literal(
      JsonSchemaObject.optional().meta({
        description: "Fields to fill in, as a JSON Schema of an object. The answers are in form.",
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
        .meta({
          description: "The only people who can decide, by mail address; they get a mail.",
          example: ["ada@example.com"],
        }),
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
  mayRestOnDecision: true,
  describeEffect: ({ assignees }) =>
    Array.isArray(assignees) && assignees.length === 0
      ? { words: "Asks a person", does: "asks", targets: [] }
      : {
          words: `Asks ${allAsWritten(assignees)}, and sends them a mail`,
          does: "asks",
          targets: [assignees].flat().map(asWritten),
        },
  hasEffects: () => false,
  // Nobody is asked to decide on what will not happen.
  runsInTrial: () => false,
  resource: () => null,
  check: async (step, { connections, hasConnections, isActiveUser }) => {
    const form = step["form"];
    const issues = hasConnections ? assigneeIssues(step, connections.mailer) : [];
    if (issues.length === 0 && isActiveUser !== undefined)
      issues.push(...(await assigneeWarnings(step, isActiveUser)));
    if (form === undefined) return { issues, output: outputOf({ kind: "null" }) };
    return {
      issues: [...issues, ...formIssues(form)],
      output: outputOf(nullable(shapeOfSchema(form))),
    };
  },
  run: ({ message, form, assignees }) =>
    Promise.resolve({ kind: "approval", message, form: form ?? null, assignees }),
});

/** Without a mail server nobody is mailed, and the assignees find the approval in the list. */
const assigneeIssues = (step: UnresolvedStep, mailer: Mailer): PartialIssue[] =>
  mailer.unavailableReason() === null ? recipientIssues("assignees", step, mailer) : [];

/** Warns of assignees without an expression who can't decide, because they are no active users. */
async function assigneeWarnings(
  { assignees }: UnresolvedStep,
  isActiveUser: (email: string) => Promise<boolean>,
): Promise<PartialIssue[]> {
  if (!Array.isArray(assignees)) return [];
  const warnings = (assignees as unknown[]).map(async (email, index): Promise<PartialIssue[]> => {
    if (typeof email !== "string" || EXPRESSION_PATTERN.test(email) || (await isActiveUser(email))) return [];
    return [
      {
        path: ["assignees", index],
        code: "not_a_user",
        severity: "warning",
        message: `is not the address of an active user, so ${email} can't decide`,
        fix: "Invite the person (POST /users), or write the address that they sign in with.",
      },
    ];
  });
  return (await Promise.all(warnings)).flat();
}

function formIssues(form: unknown): PartialIssue[] {
  const { type } = form as { type?: unknown };
  if (type !== "object")
    return [
      {
        path: ["form", "type"],
        code: type === undefined ? "missing" : "not_allowed",
        message: "must be object, because a form has named fields",
        allowed: ["object"],
        fix: 'Write {"type": "object", "properties": {…}}.',
      },
    ];
  return schemaIssues(form).map((issue) =>
    Object.assign({}, issue, { path: ["form", ...(issue.path ?? [])] }),
  );
}
