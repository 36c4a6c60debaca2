/**
 * Writes a JSON value as text that does not depend on the order of its keys, to compare and to hash values. Members that
 * are undefined are left out.
 *
 * The text differs from RFC 8785 in two ways, and has to stay as it is because stored hashes depend on it: keys that
 * are array indexes (`"2"`, `"10"`) come first in the order of their numbers, and a lone surrogate is escaped where the
 * RFC refuses it.
 */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value));

/** The same value with the keys of its objects in order: itself where they are, because most are and copies take long. */
function sorted(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  const { toJSON } = given as { toJSON?: unknown };
  const value: unknown = typeof toJSON === "function" ? toJSON.call(given) : given;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    // Copied from the first item that is another one.
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index += 1) {
      const item = sorted(value[index]);
      if (item !== value[index]) copy ??= value.slice(0, index);
      copy?.push(item);
    }
    return copy ?? value;
  }
  const fields = value as Record<string, unknown>;
  const keys = Object.keys(fields);
  let isSame = keys.every((key, index) => index === 0 || keys[index - 1]! < key);
  const entries = (isSame ? keys : keys.toSorted()).map((key): [string, unknown] => {
    const inner = sorted(fields[key]);
    isSame &&= inner === fields[key];
    return [key, inner];
  });
  return isSame ? value : Object.fromEntries(entries);
}
