/** The help text for the key or value under the pointer. */
import { valueAt } from "./path.ts";
import { nodeAt } from "./cursor-context.ts";
import { type Schema, resolveSchemaAt, schemaHelp, enumValues } from "./schema.ts";

export function hoverInfoAt(
  text: string,
  pos: number,
  schema: Schema,
): { from: number; to: number; text: string } | undefined {
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
