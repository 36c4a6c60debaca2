/** Reads the input schema and the examples of a definition; malformed parts are ignored. */
import * as texts from "#texts/workflows";
import type { JsonSchema } from "../forms/schema.ts";

type Definition = Readonly<Record<string, unknown>>;

const NO_INPUTS: JsonSchema = { type: "object", properties: {} };

export const inputSchemaOf = ({ inputs }: Definition): JsonSchema => (isObject(inputs) ? inputs : NO_INPUTS);

interface Example {
  name: string;
  inputs: Record<string, unknown>;
}

/** The examples, each with a unique name. */
export function parseExamples({ examples }: Definition): Example[] {
  if (!Array.isArray(examples)) return [];
  const taken = new Set<string>();
  return examples.filter(isObject).map(({ name, inputs }, index) => {
    const uniqueName =
      typeof name === "string" && !taken.has(name) ? name : texts.exampleName({ number: index + 1 });
    taken.add(uniqueName);
    return { name: uniqueName, inputs: isObject(inputs) ? inputs : {} };
  });
}

/** Splits the inputs of another version into those that this one has, and the names of the others. */
export function splitInputs(
  definition: Definition,
  inputs: Readonly<Record<string, unknown>>,
): { known: Record<string, unknown>; unknown: string[] } {
  const { properties } = inputSchemaOf(definition);
  const names = new Set(Object.keys(properties ?? {}));
  const entries = Object.entries(inputs);
  return {
    known: Object.fromEntries(entries.filter(([name]) => names.has(name))),
    unknown: entries.flatMap(([name]) => (names.has(name) ? [] : [name])),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
