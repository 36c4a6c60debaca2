/** A definition as people read it: YAML with blocks for long texts, and keys in one order. */
import { Document, isScalar, Scalar, visit } from "yaml";
import { TOP_FIELDS } from "../../../../schemas/workflow-definition.ts";

const FIRST_AT_TOP = ["id", "name", "description", "tags", "inputs", "steps", ...Object.keys(TOP_FIELDS)];
const FIRST_IN_STEP = ["id", "type", "description", "needs", "if", "for_each", "concurrency"];
const LAST_IN_STEP = ["retry", "timeout", "on_error", "cache"];

/** @returns YAML 1.2 text that means the same, ending in a newline */
export function toYaml(definition: Readonly<Record<string, unknown>>): string {
  const { steps } = definition;
  const document = new Document(
    ordered(
      { ...definition, ...(Array.isArray(steps) && { steps: (steps as unknown[]).map(orderedStep) }) },
      FIRST_AT_TOP,
    ),
    // The same object in two places stays two values.
    { version: "1.2", schema: "core", aliasDuplicateObjects: false },
  );
  visit(document, {
    Scalar(key, node) {
      if (key === "key" || typeof node.value !== "string" || !isScalar(node)) return;
      if (needsQuotes(node.value)) node.type = Scalar.QUOTE_DOUBLE;
      else if (/\n/.test(node.value) && /\S/.test(node.value)) node.type = Scalar.BLOCK_LITERAL;
    },
  });
  return document.toString({ lineWidth: 0, minContentWidth: 0 });
}

/**
 * Texts that YAML has another idea of in places: expressions (`{`, `#`, `: `), and what a block would not keep
 * (white space at the ends of lines, other line ends).
 */
/** What YAML 1.1, which other programs still read, takes for a date or a truth value. */
const OTHERWISE_READ = /^(?:\d{4}-\d\d?-\d\d?|y|n|yes|no|on|off)\b/i;

const needsQuotes = (text: string): boolean =>
  text.includes("\n")
    ? /[^\S\n]\n|[\p{Cc}--[\t\n]]|[\u2028\u2029\ufeff]/v.test(text) || /^\s/.test(text)
    : text.includes("${{") || OTHERWISE_READ.test(text) || /^[!&*?|>@`%{[\]},#"'-]| #|: |:$/.test(text);

function orderedStep(step: unknown): unknown {
  if (typeof step !== "object" || step === null || Array.isArray(step)) return step;
  return ordered(step as Record<string, unknown>, FIRST_IN_STEP, LAST_IN_STEP);
}

function ordered(
  value: Readonly<Record<string, unknown>>,
  first: readonly string[],
  last: readonly string[] = [],
): Record<string, unknown> {
  const rank = (key: string): number => {
    if (first.includes(key)) return first.indexOf(key) - first.length;
    return last.indexOf(key) + 1;
  };
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => rank(a) - rank(b)));
}
