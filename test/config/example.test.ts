import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Config } from "../../schemas/config.ts";
import { loadConfig } from "../../src/config/config-file.ts";

const FILE = fileURLToPath(new URL("../../config.example.yaml", import.meta.url));

interface Json {
  properties?: Record<string, Json>;
  items?: Json;
}

/** Returns the paths of a schema's keys that a value lacks. A key of list entries must be in at least one entry. */
function missing({ properties, items }: Json, values: readonly unknown[], path: string): string[] {
  if (items !== undefined) return missing(items, values.flat(), path);
  return Object.entries(properties ?? {}).flatMap(([key, schema]) => {
    const below = values.flatMap((value) => (value as Record<string, unknown>)[key] ?? []);
    const at = `${path}.${key}`;
    return below.length === 0 ? [at] : missing(schema, below, at);
  });
}

describe("the example configuration", () => {
  it("contains every key", () => {
    const schema = z.toJSONSchema(Config, { io: "input" }) as Json;
    expect(missing(schema, [parse(readFileSync(FILE, "utf8"))], "")).toEqual([]);
  });

  it("can be used as it is: a variable without a value is no error", async () => {
    const { missing: named, secrets } = loadConfig(FILE, true, { WAREHOUSE_PASSWORD: "x" });
    expect(named).toEqual([]);
    // There is no vault here.
    await secrets.load(["ANTHROPIC_API_KEY"]);
    secrets.close();
    expect(secrets.missingReason("ANTHROPIC_API_KEY")).toMatch(/^secret_command .*ANTHROPIC_API_KEY$/);
  });
});
