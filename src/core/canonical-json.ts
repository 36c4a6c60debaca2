/**
 * Writes a JSON value as text that does not depend on the order of its keys, to compare and to hash values. Members that
 * are undefined are left out.
 *
 * The text differs from RFC 8785 in two ways, and has to stay as it is because stored hashes depend on it: keys that
 * are array indexes (`"2"`, `"10"`) come first in the order of their numbers, and a lone surrogate is escaped where the
 * RFC refuses it.
 */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(
          Object.keys(inner)
            .toSorted()
            .map((key) => [key, (inner as Record<string, unknown>)[key]]),
        )
      : inner,
  );
