/** The names of inputs as agents get them: model vendors refuse a whole list of tools for one name with other characters. */
import { createHash } from "node:crypto";
import type { JsonSchema } from "../json-schema/dialect.ts";
import { eachSchema, isSchemaObject } from "../json-schema/map-schemas.ts";
import { slugOf } from "../slug.ts";

/** What every vendor takes as the name of a property: the rule of Anthropic's Messages API, also on Bedrock and Vertex AI. */
const SAFE_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const MAX_NAME = 64;
const HASH_LENGTH = 8;

/** Listed names by the written ones, where they differ. */
export type ListedNames = ReadonlyMap<string, string>;

const isSafeName = (name: string): boolean => SAFE_NAME.test(name);

/**
 * Lists the names of a schema. A name that vendors refuse is written with the letters that they take; where these are too few,
 * or those of another name, it ends in a hash. It depends on this schema alone.
 */
export function listedNames(schema: JsonSchema): ListedNames {
  const written = namesIn(schema);
  const unsafe = [...written].filter((name) => !isSafeName(name)).toSorted();
  const taken = new Map([...written].filter(isSafeName).map((name) => [name, 1]));
  for (const name of unsafe) taken.set(readable(name), (taken.get(readable(name)) ?? 0) + 1);
  return new Map(
    unsafe.map((name) => {
      const base = readable(name);
      return [name, base !== "" && taken.get(base) === 1 ? base : hashed(name, base, written)];
    }),
  );
}

const readable = (name: string): string => slugOf(name, MAX_NAME).replaceAll("-", "_");

/** @param written all names of the schema, which may even have the form of a hash */
function hashed(name: string, base: string, written: ReadonlySet<string>): string {
  for (let attempt = 0; ; attempt += 1) {
    const hash = createHash("sha256")
      .update(`${name}${"\0".repeat(attempt)}`)
      .digest("hex")
      .slice(0, HASH_LENGTH);
    const candidate = `${(base || "input").slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hash}`;
    if (!written.has(candidate)) return candidate;
  }
}

/** The names of the fields of all objects that a schema describes. */
function namesIn(schema: JsonSchema): Set<string> {
  const names = new Set<string>();
  for (const inner of eachSchema(schema))
    for (const [keyword, value] of Object.entries(inner))
      for (const name of fieldNames(keyword, value)) names.add(name);
  return names;
}

function fieldNames(keyword: string, value: unknown): string[] {
  switch (keyword) {
    case "properties":
    case "dependentSchemas":
      return isSchemaObject(value) ? Object.keys(value) : [];
    case "required":
      return Array.isArray(value) ? (value as string[]) : [];
    case "dependentRequired":
      return isSchemaObject(value)
        ? [...Object.keys(value), ...(Object.values(value) as string[][]).flat()]
        : [];
    default:
      return [];
  }
}
