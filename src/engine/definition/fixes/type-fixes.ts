/** Converts an expression of the wrong type to the one that a field takes. */
import type { PartialIssue } from "../../../core/connections.ts";
import type { Shape } from "../../../core/shapes.ts";
import { mainField } from "../expressions/name-suggestions.ts";
import { rewriteWhole } from "../expressions/syntax-rewrites.ts";
import { splitTemplate, wholeExpression } from "../expressions/template.ts";
import { valueAt } from "./schema-fixes.ts";

/**
 * Adds the conversion to an issue of a type, where there is one.
 * @param issue its `subject` is the kind that is expected
 * @param value the value of the field
 * @param shape the shape of that value
 */
export function withConversion(issue: PartialIssue, value: unknown, shape: Shape): PartialIssue {
  const path = issue.path ?? [];
  const source = sourceOf(valueAt({ value }, ["value", ...path]));
  const actual = path.reduce<Shape | undefined>(
    (outer, part) => (outer?.kind === "object" ? outer.fields[String(part)] : undefined),
    shape,
  );
  if (source === undefined || actual === undefined || issue.subject === undefined) return issue;
  const converted = conversionOf(source, issue.subject, actual);
  return converted === undefined
    ? issue
    : { ...issue, fix: `Write ${converted}.`, rewrite: rewriteWhole(source, converted) };
}

function conversionOf(source: string, expected: string, actual: Shape): string | undefined {
  const main = mainField(actual, [expected as Shape["kind"]]);
  if (main !== undefined && /^[\w.]+$/.test(source)) return `${source}.${main}`;
  const { kind } = actual;
  if (expected === "string" && (kind === "number" || kind === "boolean")) return `string(${source})`;
  if (expected === "number" && kind === "string") return `double(${source})`;
  const hasSize = kind === "list" || kind === "string" || kind === "map";
  return expected === "boolean" && hasSize ? `size(${source}) > 0` : undefined;
}

/** Returns the source of a bare expression, or of one whole `${{ }}`. */
function sourceOf(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  return text.includes("${{") ? wholeExpression(splitTemplate(text)) : text.trim();
}
