/** What is to be known of the key or word under the pointer. */
import { valueAt } from "./path.ts";
import { nodeAt } from "./cursor-context.ts";
import { type Schema, resolveSchemaAt, schemaHelp, enumValues } from "./schema.ts";

export function hoverInfoAt(
  text: string,
  pos: number,
  schema: Schema,
): { from: number; to: number; text: string } | undefined {
  const thing = nodeAt(text, pos);
  if (thing === undefined) return undefined;
  const { role, path, from, to, root } = thing;
  const { variants, declared } = resolveSchemaAt(schema, path, root);
  if (!declared) return undefined;
  // Of a value only what is special about just this one: a step's type.
  const told =
    role === "key"
      ? schemaHelp(variants)
      : (variants.find((form) => form.const !== undefined && enumValues(form).includes(valueAt(root, path)))
          ?.description ?? "");
  return told === "" ? undefined : { from, to, text: told };
}
