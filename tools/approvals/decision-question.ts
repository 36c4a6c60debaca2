/** An approval as a question to the person behind an MCP client. @see MCP 2025-11-25, elicitation */
import { visibleText } from "../../schemas/hidden-characters.ts";
import { isLongNumber } from "../../schemas/long-numbers.ts";
import { tally } from "../../src/core/approval-rules.ts";
import { formatPlan } from "../../src/core/format-plan.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { publishedSchema } from "../../src/core/json-schema/index.ts";
import type { Elicitation } from "../../src/core/tool.ts";
import type { Decidable } from "./find-decidable.ts";

type Fields = Elicitation["schema"]["properties"];

/** The keywords that elicitation's flat schema supports, by type. */
const SUPPORTED_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ["title", "description", "default", "minLength", "maxLength", "format"],
  integer: ["title", "description", "default", "minimum", "maximum"],
  number: ["title", "description", "default", "minimum", "maximum"],
  boolean: ["title", "description", "default"],
};
const FORMATS = new Set(["email", "uri", "date", "date-time"]);
/** Prefix of the form's own fields, so that none collides with the decision and the comment. */
const PREFIX = "form_";

/**
 * A question for the decision, with what can run after it, for a comment and the fields of the approval's form. Optional fields that a flat schema can't
 * express are left out.
 * @throws AppError invalid_input when a flat schema can't express a required field
 */
export function decisionQuestion({
  approval: { id, workflowId, message, form, rules, decisions },
  remaining: { workflows, digest },
  right: { seat },
}: Decidable): Elicitation {
  const { properties, missing } = flatFields(form);
  if (missing.length > 0) throw unsupportedFieldsError(missing);
  const fields: Fields = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [PREFIX + name, published(field)]),
  );
  return {
    message: [
      `${workflowId ?? "A single step"}: ${visibleText(message)}`,
      ...(seat.by === "assignment" ? [] : [`You decide in the place of ${seat.of}.`]),
      ...(rules.required === 1
        ? []
        : [`${tally(rules, decisions, digest).approved} of ${rules.required} people have approved.`]),
      formatPlan(id, workflows),
    ].join("\n\n"),
    schema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: "Decision",
          enum: ["approve", "decline"],
        },
        comment: { type: "string", title: "Comment", description: "The reason; the run can read it." },
        ...fields,
      },
      required: ["decision"],
    },
    toInput({ decision, comment, ...formFields }) {
      const formEntries = Object.entries(formFields)
        .filter(([key, value]) => key.startsWith(PREFIX) && value !== undefined)
        .map(([key, value]) => [key.slice(PREFIX.length), value] as const);
      return {
        decision,
        plan_digest: digest,
        ...(typeof comment === "string" && comment !== "" && { comment }),
        ...(decision === "approve" && formEntries.length > 0 && { form: Object.fromEntries(formEntries) }),
      };
    },
  };
}

/** The field as the client has to read it: of a number with a default that is a long number, without the default. */
function published(field: Fields[string]): Fields[string] {
  const { default: given, ...schema } = field;
  const isHeld = field["type"] === "string" || !isLongNumber(given);
  return publishedSchema(isHeld ? field : schema);
}

/**
 * The fields of a form that a flat schema can express.
 * @returns with the names of the required fields, and of those among them that it can't express
 */
export function flatFields(form: Readonly<Record<string, unknown>> | null): {
  properties: Fields;
  required: readonly string[];
  missing: string[];
} {
  const { properties = {}, required = [] } = (form ?? {}) as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const supported = Object.entries(properties).flatMap(([name, schema]) => {
    const field = toFlatField(name, schema);
    return field === undefined ? [] : [[name, field] as const];
  });
  const names = new Set(supported.map(([name]) => name));
  return {
    properties: Object.fromEntries(supported),
    required,
    missing: required.filter((name) => !names.has(name)),
  };
}

/** A field in elicitation's flat schema; undefined when that can't express it. */
function toFlatField(name: string, schema: unknown): Fields[string] | undefined {
  const field = schema as Record<string, unknown>;
  const type = typeof field["type"] === "string" ? field["type"] : "";
  const keywords = SUPPORTED_KEYWORDS[type];
  if (keywords === undefined) return undefined;
  const supported = Object.entries(field).filter(
    ([key, value]) => keywords.includes(key) && (key !== "format" || FORMATS.has(value as string)),
  );
  const choices = field["enum"];
  if (choices !== undefined && (type !== "string" || !isStringArray(choices))) return undefined;
  // An enum allows no other constraints.
  const constraints =
    choices === undefined ? supported : supported.filter(([key]) => !/^(?:m..Length|format)$/.test(key));
  return {
    title: name,
    ...Object.fromEntries(constraints),
    type,
    ...(choices !== undefined && { enum: choices }),
  };
}

const isStringArray = (values: unknown): boolean =>
  Array.isArray(values) && values.every((value) => typeof value === "string");

const unsupportedFieldsError = (names: readonly string[]) =>
  invalidInput([
    {
      path: "form",
      code: "missing",
      message: `can't be asked for here: a form over MCP has only text, numbers, booleans and choices, and ${names.slice(0, 10).join(", ")} must be given`,
      fix: "Ask the person yourself, then send decision and form; list_approvals shows the form's schema.",
    },
  ]);
