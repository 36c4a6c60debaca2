import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Config, PER_KEY_LIMITS } from "../../schemas/config.ts";
import { DEFAULT_PER_KEY_LIMITS } from "../../src/core/usage-limits.ts";

const page = readFileSync(new URL("../../docs/limits.md", import.meta.url), "utf8");

/** The defaults of the table, by the name of the limit. */
const documented = new Map(
  [...page.matchAll(/^\| `(limits\.[a-z_.]+)` +\|[^|]+\| ([^|]+?) +\|/gm)].map(([, name, value]) => [
    name!,
    value!,
  ]),
);

const formatDefault = (value: string | number | undefined): string => {
  if (value === undefined) return "none";
  if (typeof value === "string") return value;
  if (value > 0 && value % 1024 ** 3 === 0) return `${value / 1024 ** 3} GiB`;
  return value > 0 && value % 1024 ** 2 === 0 ? `${value / 1024 ** 2} MiB` : value.toLocaleString("en");
};

describe("the table of limits", () => {
  const { per_key: _, ...limits } = Config.parse({}).limits;
  const perKey = Object.fromEntries(
    PER_KEY_LIMITS.map((name) => [
      `per_key.${name}`,
      (DEFAULT_PER_KEY_LIMITS as Readonly<Record<string, number>>)[name],
    ]),
  );
  // These have no default in the schema: the first is off, the others depend on what there is.
  const all: Record<string, string | number | undefined> = {
    requests_per_minute: undefined,
    connections_per_address: undefined,
    free_disk: undefined,
    ...limits,
    ...perKey,
  };

  it("has every limit of the configuration, and no other", () => {
    expect([...documented.keys()].toSorted()).toEqual(
      Object.keys(all)
        .map((name) => `limits.${name}`)
        .toSorted(),
    );
  });

  it.each(Object.keys(all).filter((name) => !["free_disk", "connections_per_address"].includes(name)))(
    "has the default of %s",
    (name) => {
      expect(documented.get(`limits.${name}`)).toBe(formatDefault(all[name]));
    },
  );
});
