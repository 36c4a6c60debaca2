/** One text for one JSON value, whatever the order of its keys: to compare values, and to hash them. */
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
