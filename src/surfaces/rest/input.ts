/** Reads an operation's input from the path, query, headers and body of a request. */
import type { Request } from "express";
import { z } from "zod";
import type { Issue } from "../../../schemas/problem.ts";
import { splitList } from "../../../schemas/split-list.ts";
import { formatPath, MAX_UNKNOWN_KEYS, unknownKey } from "../../core/issues.ts";
import { meantField } from "../../core/input-aliases.ts";
import { oncePer } from "../../core/once-per.ts";
import { type AnyTool, parseRoute } from "../../core/tool.ts";
import { parseIfMatch } from "./entity-tags.ts";

/** The place of each field of an operation's input in the request. */
export interface InputPlan {
  parameters: readonly string[];
  headers: readonly (readonly [field: string, header: "If-Match" | "Idempotency-Key"])[];
  /** All other fields: the query of GET and DELETE, the body of POST, PUT and PATCH. */
  fields: readonly string[];
  inBody: boolean;
  kinds: ReadonlyMap<string, Kind>;
}

type Kind = "integer" | "boolean" | "list" | "text";

/** Plans the input of an operation. */
export const planInput = oncePer((tool: AnyTool): InputPlan => {
  const { method, parameters } = parseRoute(tool);
  const headers = Object.entries(tool.headers ?? {});
  const placed = new Set([...parameters, ...headers.map(([field]) => field)]);
  const shape = (tool.input as z.ZodObject).shape;
  return {
    parameters,
    headers,
    fields: Object.keys(shape).filter((field) => !placed.has(field)),
    inBody: method !== "GET" && method !== "DELETE",
    kinds: new Map(Object.entries(shape).map(([field, schema]) => [field, kindOf(schema as z.ZodType)])),
  };
});

function kindOf(schema: z.ZodType): Kind {
  const { type: only, anyOf } = z.toJSONSchema(schema, { unrepresentable: "any", io: "input" }) as {
    type?: string;
    anyOf?: { type?: string }[];
  };
  const type = only ?? anyOf?.[0]?.type;
  if (type === "integer" || type === "boolean") return type;
  return type === "array" ? "list" : "text";
}

/**
 * Gathers the input. Values are not validated here, only their places.
 * @returns the raw input for `invoke`, and the issues of misplaced and unknown fields
 */
export function gatherInput(plan: InputPlan, req: Request): { raw: unknown; issues: Issue[] } {
  const issues: Issue[] = [];
  const raw: Record<string, unknown> = {};
  const query = req.query as Record<string, string | string[]>;

  if (plan.inBody) {
    const body: unknown = req.body === undefined ? {} : req.body;
    if (typeof body !== "object" || body === null || Array.isArray(body)) {
      issues.push({
        path: "",
        code: "wrong_type",
        message: "must be a JSON object",
        allowed: [...plan.fields],
      });
    } else {
      for (const [key, value] of Object.entries(body)) {
        if (plan.fields.includes(key)) raw[key] = value;
        else if (issues.length < MAX_UNKNOWN_KEYS) issues.push(misplacedIssue(plan, key));
      }
    }
    for (const key of Object.keys(query)) {
      issues.push(
        unknownKey(
          formatPath([key]),
          key,
          [],
          "Send it in the JSON body: this request has no query parameters.",
        ),
      );
    }
  } else {
    for (const [key, value] of Object.entries(query)) {
      if (!plan.fields.includes(key)) {
        issues.push(misplacedIssue(plan, key));
        continue;
      }
      const kind = plan.kinds.get(key)!;
      const isRepeated = kind !== "list" && Array.isArray(value);
      if (isRepeated) issues.push(repeatedIssue(key, value.length));
      raw[key] = fromText(kind, isRepeated ? value[0]! : value);
    }
  }
  for (const name of plan.parameters) raw[name] = fromText(plan.kinds.get(name)!, req.params[name]!);
  for (const [field, header] of plan.headers) {
    const value = req.headers[header.toLowerCase()];
    if (typeof value !== "string") continue;
    const parsed = header === "If-Match" ? parseIfMatch(value) : { value };
    if (parsed === undefined) {
      issues.push({
        path: "If-Match",
        code: "wrong_format",
        message: `must be the ETag of a workflow, such as "3"`,
        fix: 'Send the ETag of the version that you changed, with its quotes, or "*".',
      });
    } else if (parsed.value !== undefined) raw[field] = parsed.value;
  }
  return { raw, issues };
}

/** Reports a field that the request does not have, or that belongs in another part of it. */
function misplacedIssue(plan: InputPlan, key: string): Issue {
  const header = plan.headers.find(([field]) => field === key)?.[1];
  if (header !== undefined)
    return unknownKey(formatPath([key]), key, plan.fields, `Send it as the header ${header}.`);
  if (plan.parameters.includes(key))
    return unknownKey(formatPath([key]), key, plan.fields, "Remove it: the path contains it already.");
  return { ...unknownKey(formatPath([key]), key, plan.fields), ...meantField(key, plan.fields, undefined) };
}

const repeatedIssue = (key: string, times: number): Issue => ({
  path: formatPath([key]),
  code: "wrong_type",
  message: `is in the query ${times} times, and takes one value`,
  fix: "Send it once.",
});

/** Converts text of the query string to the type of its field. Text that does not fit stays, for the schema to refuse. */
function fromText(kind: Kind, value: string | string[]): unknown {
  if (kind === "list") return (Array.isArray(value) ? value : [value]).flatMap(splitList).filter(Boolean);
  if (kind === "integer" && typeof value === "string" && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (kind === "boolean" && (value === "true" || value === "false")) return value === "true";
  return value;
}
