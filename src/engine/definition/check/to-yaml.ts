/** Writes a definition as YAML for people: with blocks for long texts and keys in a fixed order. */
import { Document, isScalar, Scalar, visit } from "yaml";
import { TOP_FIELDS } from "../../../../schemas/workflow-definition.ts";
import { escapeUnprintable, needsQuotes } from "../../../../schemas/yaml-text.ts";

const FIRST_AT_TOP = [
  "id",
  "name",
  "description",
  "tags",
  "draft",
  "inputs",
  "state",
  "steps",
  ...Object.keys(TOP_FIELDS),
];
const FIRST_IN_STEP = ["id", "type", "description", "needs", "if", "for_each", "concurrency"];
const LAST_IN_STEP = ["retry", "timeout", "on_error", "cache", "on_interrupted", "lookup"];

/** @returns YAML 1.2 text that ends with a newline */
export function toYaml(definition: Readonly<Record<string, unknown>>): string {
  const { steps } = definition;
  const document = new Document(
    ordered(
      { ...definition, ...(Array.isArray(steps) && { steps: (steps as unknown[]).map(orderedStep) }) },
      FIRST_AT_TOP,
    ),
    // An object that occurs twice is written twice, not as an alias.
    { version: "1.2", schema: "core", aliasDuplicateObjects: false },
  );
  visit(document, {
    Scalar(key, node) {
      if (typeof node.value !== "string" || !isScalar(node)) return;
      if (needsQuotes(node.value)) node.type = Scalar.QUOTE_DOUBLE;
      else if (key !== "key" && /\n/.test(node.value) && /\S/.test(node.value))
        node.type = Scalar.BLOCK_LITERAL;
    },
  });
  return escapeUnprintable(document.toString({ lineWidth: 0, minContentWidth: 0 }));
}

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
