/** Inputs of workflows whose schemas vendors refuse as they are written, with arguments that match them. */
import { apiClient } from "./http.ts";
import type { TestInstance } from "./instance.ts";

const text = { type: "string" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

/** Not written as a field: an object with `then` would be taken for a promise. */
const THEN_NOTE = JSON.parse('{"then": {"required": ["note"]}}') as object;

export interface AwkwardInputs {
  name: string;
  inputs: Record<string, unknown>;
  /** Arguments with the listed names. */
  args: Record<string, unknown>;
  /** The inputs of the run, with the names of the definition. */
  given: Record<string, unknown>;
}

const LONG = "a_name_of_an_input_that_says_everything_about_it_and_more_than_that_too";

export const AWKWARD_INPUTS: readonly AwkwardInputs[] = [
  {
    name: "Names",
    inputs: object(
      { größe: { type: "integer" }, "Kunde Nr": text, [LONG]: text, 客户: text, $top: { type: "integer" } },
      { required: ["größe", "Kunde Nr"] },
    ),
    args: { groesse: 4, kunde_nr: "K1", [LONG.slice(0, 64)]: "x", top: 1 },
    given: { größe: 4, "Kunde Nr": "K1", [LONG]: "x", $top: 1 },
  },
  {
    name: "Nested names",
    inputs: object({
      "Bestell-Zeilen ": { type: "array", items: object({ Straße: text }, { additionalProperties: false }) },
    }),
    args: { bestell_zeilen: [{ strasse: "A" }] },
    given: { "Bestell-Zeilen ": [{ Straße: "A" }] },
  },
  {
    name: "Choices",
    inputs: object(
      { email: text, phone: text },
      { anyOf: [{ required: ["email"] }, { required: ["phone"] }] },
    ),
    args: { phone: "1" },
    given: { phone: "1" },
  },
  {
    name: "Forms",
    inputs: {
      type: "object",
      oneOf: [object({ url: text }, { required: ["url"] }), object({ größe: text }, { required: ["größe"] })],
    },
    args: { groesse: "b" },
    given: { größe: "b" },
  },
  {
    name: "Conditions",
    inputs: object(
      { kind: { enum: ["a", "b"] }, note: text },
      {
        if: { properties: { kind: { const: "a" } }, required: ["kind"] },
        ...THEN_NOTE,
        not: { required: ["x"] },
      },
    ),
    args: { kind: "a", note: "n" },
    given: { kind: "a", note: "n" },
  },
  {
    name: "References",
    inputs: {
      $ref: "#/$defs/order",
      type: "object",
      $defs: {
        order: object(
          { id: { type: ["integer", "null"] }, parent: { $ref: "#/$defs/order" } },
          { required: ["id"] },
        ),
      },
    },
    args: { id: 1, parent: { id: 2 } },
    given: { id: 1, parent: { id: 2 } },
  },
  {
    name: "Values",
    inputs: object({
      level: { enum: [1, 2, null] },
      mode: { const: "fast" },
      empty: { type: "string", enum: ["", "x"] },
      mixed: { type: ["string", "integer", "null"] },
      list: { type: "array" },
      pair: { type: "array", prefixItems: [text, { type: "integer" }] },
      amount: { type: "number", exclusiveMinimum: 0, multipleOf: 0.01 },
      labels: { type: "object", patternProperties: { "^x-": text } },
      target: { oneOf: [object({ id: { const: 1 } }), text, { type: "null" }] },
      both: { allOf: [object({ a: text }), object({ b: text }, { required: ["b"] })] },
    }),
    args: {
      level: 2,
      mode: "fast",
      empty: "",
      mixed: 3,
      list: [1],
      pair: ["a", 1],
      amount: 1.5,
      labels: { "x-a": "1" },
    },
    given: {
      level: 2,
      mode: "fast",
      empty: "",
      mixed: 3,
      list: [1],
      pair: ["a", 1],
      amount: 1.5,
      labels: { "x-a": "1" },
    },
  },
  {
    name: "Formats",
    inputs: object({
      id: { type: "string", format: "uuid" },
      page: { type: ["string", "integer"], format: "uri", default: "https://example.com/" },
      since: { type: "string", format: "date-time" },
    }),
    args: { id: "0b4a3c1e-5f59-4c0c-9b1e-5d2f6a7b8c9d", page: 2, since: "2026-11-29T10:00:00Z" },
    given: { id: "0b4a3c1e-5f59-4c0c-9b1e-5d2f6a7b8c9d", page: 2, since: "2026-11-29T10:00:00Z" },
  },
  {
    name: "Patterns",
    inputs: object({
      letter: { type: "string", pattern: "(?i)^a" },
      word: { type: "string", pattern: "^\\pL+$" },
      code: { type: "string", pattern: String.raw`\A(?P<year>\d{4})\-.\z` },
    }),
    args: { letter: "Ab", word: "größe", code: "2026-\u2028" },
    given: { letter: "Ab", word: "größe", code: "2026-\u2028" },
  },
];

/** The tool of the workflow with these inputs. */
export const awkwardTool = ({ name }: Pick<AwkwardInputs, "name">): string =>
  `run_${name.toLowerCase().replaceAll(" ", "_")}`;

/** Publishes a workflow with each of these inputs, which returns them, as an admin, who thereby allows it as a tool. */
export async function exposeAwkwardInputs(instance: Pick<TestInstance, "rest" | "key">): Promise<void> {
  const { url } = await instance.rest();
  const { value } = await instance.key({ scopes: ["read", "write", "publish", "run", "admin"] });
  const call = apiClient(url, value);
  for (const { name, inputs } of AWKWARD_INPUTS) {
    const steps = [{ id: "all", type: "set", values: { inputs: "${{ inputs }}" } }];
    const definition = { expose_as_tool: true, inputs, steps, output: "${{ steps.all.inputs }}" };
    const { body } = await call("POST", "/workflows", { name, description: "", definition });
    const published = await call("POST", `/workflows/${body.id}/publish`, {});
    if (published.status !== 200) throw new Error(`${name}: ${JSON.stringify(published.body)}`);
  }
}
