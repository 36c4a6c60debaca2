/**
 * Replaces the texts of a value, also the names of fields. Copies only what changes: functions and instances of classes, such
 * as errors, stay what they are.
 */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => mapTexts(item, change));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isPlainObject(value)) return value;
  const fields = Object.entries(value);
  const changed = fields.map(([name, inner]) => [change(name), mapTexts(inner, change)] as const);
  const isSame = changed.every(([name, inner], index) => {
    const [before, innerBefore] = fields[index]!;
    return name === before && inner === innerBefore;
  });
  return isSame ? value : Object.fromEntries(changed);
}

/** Whether a text in a value is found, or the name of a field. It copies nothing, and stops at the first. */
export function hasText(value: unknown, isFound: (text: string) => boolean): boolean {
  if (typeof value === "string") return isFound(value);
  if (Array.isArray(value)) return value.some((item) => hasText(item, isFound));
  if (typeof value !== "object" || value === null) return false;
  for (const key in value)
    if (isFound(key) || hasText(value[key as keyof typeof value], isFound)) return true;
  return false;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
