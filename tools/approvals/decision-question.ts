/** An approval as a question to the person behind an MCP client. @see MCP 2025-11-25, elicitation */
import { invalidInput } from "../../src/core/issues.ts";
import type { ApprovalRecord } from "../../src/core/run-ports.ts";
import type { Elicitation } from "../../src/core/tool.ts";

type Fields = Elicitation["schema"]["properties"];

/** What a field of elicitation's flat schema may say, by its type. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  string: ["title", "description", "default", "minLength", "maxLength", "format"],
  integer: ["title", "description", "default", "minimum", "maximum"],
  number: ["title", "description", "default", "minimum", "maximum"],
  boolean: ["title", "description", "default"],
};
const FORMATS = new Set(["email", "uri", "date", "date-time"]);
/** Keeps the form's own fields apart from the decision and the comment. */
const PREFIX = "form_";

/**
 * The decision, a comment, and the approval's form. What the form need not have and can't be asked for is left out.
 * @throws AppError invalid_input when the form must have what a flat schema can't say
 */
export function decisionQuestion({ workflowId, message, form }: ApprovalRecord): Elicitation {
  const { properties = {}, required = [] } = (form ?? {}) as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const asked = Object.entries(properties).flatMap(([name, schema]) => {
    const field = flat(name, schema);
    return field === undefined ? [] : [[name, field] as const];
  });
  const names = new Set(asked.map(([name]) => name));
  const missing = required.filter((name) => !names.has(name));
  if (missing.length > 0) throw cannotAsk(missing);
  const fields: Fields = Object.fromEntries(asked.map(([name, field]) => [PREFIX + name, field]));
  return {
    message: `${workflowId}: ${message}`,
    schema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: "Decision",
          enum: ["approve", "decline"],
        },
        comment: { type: "string", title: "Comment", description: "Why; the run can read it." },
        ...fields,
      },
      required: ["decision"],
    },
    toInput({ decision, comment, ...rest }) {
      const given = Object.entries(rest)
        .filter(([key, value]) => key.startsWith(PREFIX) && value !== undefined)
        .map(([key, value]) => [key.slice(PREFIX.length), value] as const);
      return {
        decision,
        ...(typeof comment === "string" && comment !== "" && { comment }),
        ...(decision === "approve" && given.length > 0 && { form: Object.fromEntries(given) }),
      };
    },
  };
}

/** A field as elicitation takes it; undefined where it can't be said. */
function flat(name: string, schema: unknown): Fields[string] | undefined {
  const field = schema as Record<string, unknown>;
  const type = typeof field["type"] === "string" ? field["type"] : "";
  const kept = KEPT[type];
  if (kept === undefined) return undefined;
  const said = Object.entries(field).filter(
    ([key, value]) => kept.includes(key) && (key !== "format" || FORMATS.has(value as string)),
  );
  const choices = field["enum"];
  if (choices !== undefined && (type !== "string" || !isTexts(choices))) return undefined;
  // A list of choices takes no other bounds.
  const rest = choices === undefined ? said : said.filter(([key]) => !/^(?:m..Length|format)$/.test(key));
  return {
    title: name,
    ...Object.fromEntries(rest),
    type,
    ...(choices !== undefined && { enum: choices }),
  };
}

const isTexts = (values: unknown): boolean =>
  Array.isArray(values) && values.every((value) => typeof value === "string");

const cannotAsk = (names: readonly string[]) =>
  invalidInput([
    {
      path: "form",
      code: "missing",
      message: `can't be asked for here: ${names.slice(0, 10).join(", ")} must be given, and a form over MCP has only text, numbers, yes or no, and choices`,
      fix: "Ask the person yourself, and send decision and form with the call; list_approvals shows the form's schema.",
    },
  ]);
