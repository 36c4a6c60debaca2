/** Shapes in words that agents and people read: `{rows: [{region: text}], row_count: number}`. */
import type { Shape } from "./shapes.ts";

const WORDS: Readonly<Record<string, string>> = {
  any: "any",
  null: "null",
  string: "text",
  number: "number",
  boolean: "boolean",
};
const DEEPEST = 6;

/** @returns the shape on one line; what is not known is `any` */
export function formatShape(shape: Shape, depth = 0): string {
  const text = depth > DEEPEST ? "…" : described(shape, depth + 1);
  return shape.nullable === true && shape.kind !== "null" ? `${text} or null` : text;
}

function described(shape: Shape, depth: number): string {
  switch (shape.kind) {
    case "list":
      return `[${formatShape(shape.of, depth)}]`;
    case "map":
      return `{…: ${formatShape(shape.of, depth)}}`;
    case "object": {
      const fields = Object.entries(shape.fields).map(([name, of]) => `${name}: ${formatShape(of, depth)}`);
      return `{${fields.join(", ")}}`;
    }
    default:
      return WORDS[shape.kind]!;
  }
}
