/** What is to be known of the key or word under the pointer. */
import { valueAt } from "./path.ts";
import { thingAt } from "./place.ts";
import { type Schema, spotAt, tellOf, wordsOf } from "./schema.ts";

export function tellAt(
  text: string,
  pos: number,
  schema: Schema,
): { from: number; to: number; text: string } | undefined {
  const thing = thingAt(text, pos);
  if (thing === undefined) return undefined;
  const { role, path, from, to, root } = thing;
  const { forms, named } = spotAt(schema, path, root);
  if (!named) return undefined;
  // Of a value only what is special about just this one: a step's type.
  const told =
    role === "key"
      ? tellOf(forms)
      : (forms.find((form) => form.const !== undefined && wordsOf(form).includes(valueAt(root, path)))
          ?.description ?? "");
  return told === "" ? undefined : { from, to, text: told };
}
