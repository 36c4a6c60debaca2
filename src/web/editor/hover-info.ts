/** The help text for the key or value under the pointer; in an expression, the value of the last test. */
import * as texts from "#texts/editor";
import { valueAt } from "./path.ts";
import { nodeAt } from "./cursor-context.ts";
import { shownValue, type TestedValues, testedValue } from "./tested-values.ts";
import { type Schema, resolveSchemaAt, schemaHelp, enumValues } from "./schema.ts";

export function hoverInfoAt(
  text: string,
  pos: number,
  schema: Schema,
  tested: TestedValues = {},
): { from: number; to: number; text: string } | undefined {
  const value = testedAt(text, pos, tested);
  if (value !== undefined) return value;
  const node = nodeAt(text, pos);
  if (node === undefined) return undefined;
  const { role, path, from, to, root } = node;
  const { variants, declared } = resolveSchemaAt(schema, path, root);
  if (!declared) return undefined;
  // A value has help of its own only when it is a constant of the schema: a step's type.
  const help =
    role === "key"
      ? schemaHelp(variants)
      : (variants.find(
          (variant) => variant.const !== undefined && enumValues(variant).includes(valueAt(root, path)),
        )?.description ?? "");
  return help === "" ? undefined : { from, to, text: help };
}

/** What the part of `steps.<id>.…` under the pointer was in the last test. */
function testedAt(
  text: string,
  pos: number,
  tested: TestedValues,
): { from: number; to: number; text: string } | undefined {
  const lineStart = text.lastIndexOf("\n", pos - 1) + 1;
  const lineEnd = text.indexOf("\n", pos);
  const line = text.slice(lineStart, lineEnd < 0 ? text.length : lineEnd);
  for (const { 0: chain, index } of line.matchAll(/\bsteps(?:\.\w+(?:\[\d+\])*)+/g)) {
    const from = lineStart + index;
    if (pos < from || pos > from + chain.length) continue;
    const rest = /^\w*(?:\[\d+\])*/.exec(chain.slice(pos - from))![0];
    const parts = chain
      .slice(0, pos - from + rest.length)
      .split(".")
      .slice(1);
    const value = parts.length === 0 ? undefined : testedValue(tested, parts);
    if (value === undefined) return undefined;
    const name = parts.at(-1)!;
    return { from, to: pos + rest.length, text: texts.lastTestOf({ name, value: shownValue(value) }) };
  }
  return undefined;
}
