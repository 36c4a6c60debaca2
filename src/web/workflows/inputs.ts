/** What a definition says of its inputs, as far as it is well formed. */
import type { JsonSchema } from "../forms/schema.ts";

type Definition = Readonly<Record<string, unknown>>;

const NONE: JsonSchema = { type: "object", properties: {} };

export const inputSchemaOf = ({ inputs }: Definition): JsonSchema => (isObject(inputs) ? inputs : NONE);

interface Example {
  name: string;
  inputs: Record<string, unknown>;
}

/** The examples with the names that buttons need; each is another one. */
export function parseExamples({ examples }: Definition): Example[] {
  if (!Array.isArray(examples)) return [];
  const taken = new Set<string>();
  return examples.filter(isObject).map(({ name, inputs }, index) => {
    const called = typeof name === "string" && !taken.has(name) ? name : `Example ${index + 1}`;
    taken.add(called);
    return { name: called, inputs: isObject(inputs) ? inputs : {} };
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
