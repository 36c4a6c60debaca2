/** Finds the field that a name stands for: models write those of other programs. */

/** Names that stand for fields, by field, separated by spaces, without case, `_` and `-`. */
export type Aliases = Readonly<Record<string, string>>;

/** Compares names without case, `_` and `-`. */
export const normalizeName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

/** Returns the field that a name stands for: one that is written differently, or the first of which it is an alias. */
export function fieldOfAlias(name: string, fields: readonly string[], aliases: Aliases): string | undefined {
  const normal = normalizeName(name);
  if (normal === "") return undefined;
  return (
    fields.find((field) => normalizeName(field) === normal) ??
    Object.entries(aliases).find(
      ([field, names]) => fields.includes(field) && names.split(" ").includes(normal),
    )?.[0]
  );
}
