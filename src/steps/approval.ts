import { text } from "../../schemas/text.ts";
import { JsonSchemaObject } from "../../schemas/field-values.ts";
import type { PartialIssue } from "../core/connections.ts";
import { ANY, BOOLEAN, listOf, nullable, objectOf, STRING, type Shape } from "../core/shapes.ts";
import { defineStepType, literal, template } from "../core/step-type.ts";
import { schemaIssues, shapeOfSchema } from "../core/json-schema/index.ts";
import { allAsWritten, asWritten } from "./as-written.ts";
import {
  assigneesField,
  escalateField,
  flatAssignees,
  named,
  remindField,
  requiredDeclinesField,
  requiredField,
  rulesOf,
} from "./approval-fields.ts";
import {
  assertEvidence,
  chatField,
  chatsOf,
  chatWords,
  decideByLinkField,
  evidenceField,
  reachIssues,
} from "./approval-reach.ts";
import { whoDecidesIssues } from "./approval-issues.ts";

const outputOf = (form: Shape): Shape =>
  objectOf({
    approved: BOOLEAN,
    by: STRING,
    comment: nullable(STRING),
    form,
    decisions: listOf(
      objectOf({
        by: STRING,
        approved: BOOLEAN,
        comment: nullable(STRING),
        form: nullable(form),
        at: STRING,
      }),
    ),
  });

export const approvalStep = defineStepType({
  type: "approval",
  title: "Ask a person",
  description:
    "Waits until a person approves or declines with decide_approval. The first decision counts, or with required so many must " +
    "approve. With assignees only they decide, never who started the run or wrote what it runs, unless the operator allows it. " +
    "The decision is for exactly what can still run. Declining is not a failure: test approved in the if of a later step. " +
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
    assignees: template(assigneesField),
    required: template(requiredField),
    required_declines: template(requiredDeclinesField),
    remind: literal(remindField),
    escalate: template(escalateField),
    evidence: template(evidenceField),
    chat: literal(chatField),
    decide_by_link: literal(decideByLinkField),
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
  describeEffect: ({ assignees, required, escalate, ...reach }) => {
    const isOpen = assignees === undefined || (Array.isArray(assignees) && assignees.length === 0);
    const several = required === undefined || required === 1 ? "" : ` (${asWritten(required)} must approve)`;
    const chats = chatsOf(reach).map(asWritten);
    if (isOpen)
      return {
        words: (several === "" ? "Asks a person" : `Asks people${several}`) + chatWords(chats),
        does: "asks",
        targets: chats,
      };
    const later = [escalate ?? []].flat().map((one) => one as { after: string; to: unknown });
    return {
      words:
        `Asks ${allAsWritten(assignees)}${several}, and sends them a mail` +
        (reach["decide_by_link"] === true ? " whose link decides without an account" : "") +
        later.map(({ after, to }) => `; after ${after} also ${allAsWritten(to)}`).join("") +
        chatWords(chats),
      does: "asks",
      targets: [...[assignees, ...later.map(({ to }) => to)].flat(3).map(asWritten), ...chats],
    };
  },
  hasEffects: () => false,
  // Nobody is asked to decide on what will not happen.
  runsInTrial: () => false,
  resource: () => null,
  check: async (step, ctx) => {
    const form = step["form"];
    const issues = [...(await whoDecidesIssues(step, ctx)), ...reachIssues(step, ctx)];
    if (form === undefined) return { issues, output: outputOf({ kind: "null" }) };
    return {
      issues: [...issues, ...formIssues(form)],
      output: outputOf(nullable(shapeOfSchema(form))),
    };
  },
  run: ({ message, form, assignees, evidence, decide_by_link: byLink, chat, ...rules }, ctx) => {
    const { step, connections } = ctx;
    assertEvidence(evidence);
    // Left out, everyone can decide. An expression that names nobody means something else.
    const people = flatAssignees(assignees);
    const isMeant = step?.["assignees"] !== undefined && !isEmptyList(step["assignees"]);
    return Promise.resolve({
      kind: "approval",
      // Once for all that show it: the mail, the page of a link, chats and the API.
      message: connections.maskSecrets(message),
      form: form ?? null,
      assignees: isMeant ? named(people, "assignees") : people,
      rules: rulesOf(rules),
      evidence: connections.maskSecretsIn(evidence ?? null) as NonNullable<typeof evidence> | null,
      delivery: { byLink, chat },
    });
  },
});

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

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
