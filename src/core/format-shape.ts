import type { Shape } from "./shapes.ts";

const KIND_NAMES: Readonly<Record<string, string>> = {
  any: "any",
  null: "null",
  string: "text",
  number: "number",
  boolean: "boolean",
};
/** Maximum number of levels that are written; deeper ones become `…`. */
const MAX_DEPTH = 6;

/** Formats a shape on one line: `{rows: [{region: text}], row_count: number}`. Unknown parts are `any`; `…` ends open objects. */
export function formatShape(shape: Shape, depth = 0): string {
  const text = depth > MAX_DEPTH ? "…" : formatKind(shape, depth + 1);
  return shape.nullable === true && shape.kind !== "null" ? `${text} or null` : text;
}

function formatKind(shape: Shape, depth: number): string {
  switch (shape.kind) {
    case "list":
      return `[${formatShape(shape.of, depth)}]`;
    case "map":
      return `{…: ${formatShape(shape.of, depth)}}`;
    case "object": {
      const fields = Object.entries(shape.fields).map(([name, of]) => `${name}: ${formatShape(of, depth)}`);
      const known = shape.others === undefined ? "…" : `…: ${formatShape(shape.others, depth)}`;
      const others = shape.open === true ? [known] : [];
      return `{${[...fields, ...others].join(", ")}}`;
    }
    default:
      return KIND_NAMES[shape.kind]!;
  }
}
