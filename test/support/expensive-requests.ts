/** Random requests of up to 1 MiB that are built to be expensive: schemas, values, definitions, expressions, patches, YAML. */
import { seededRandom } from "./random.ts";

/** Random choices that depend only on the seed. */
export interface Random {
  /** From `min` to `max`, both included. */
  integer(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
}

export function randomChoices(seed: number): Random {
  const next = seededRandom(seed);
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return { integer, pick: (items) => items[integer(0, items.length - 1)]! };
}

export interface ExpensiveRequest {
  /** What it is made of, for the report. */
  name: string;
  method: string;
  path: string;
  /** JSON text. */
  body: string;
}

/** Maximum size of a body, in characters. */
const MAX_CHARS = 1_000_000;

type Json = Record<string, unknown>;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const fields = (count: number, make: (index: number) => [string, unknown]): Json =>
  Object.fromEntries(times(count, make));

/** Halves the size of a request until its body is small enough. */
function fitting(make: (size: number) => unknown, size: number): string {
  for (let next = size; ; next = Math.floor(next / 2)) {
    const body = JSON.stringify(make(next));
    if (body.length <= MAX_CHARS) return body;
  }
}

const SET = { id: "a", type: "set", values: { x: 1 } };

/** A definition whose runs take any value as the input `a`. */
export const taking = (schema: unknown, $defs?: Json): Json => ({
  inputs: { type: "object", properties: { a: schema }, ...($defs && { $defs }) },
  steps: [SET],
});

const RECURSIVE = {
  n: {
    anyOf: [
      { type: "object", properties: { l: { $ref: "#/$defs/n" } }, required: ["l", "x"] },
      { type: "object", properties: { l: { $ref: "#/$defs/n" } }, required: ["l", "y"] },
      { type: "object", properties: { l: { $ref: "#/$defs/n" } } },
    ],
  },
};

/** Definitions of workflows whose inputs are expensive to validate. */
export const EXPENSIVE_SCHEMAS: Readonly<Record<string, Json>> = {
  unique: taking({ type: "array", uniqueItems: true }),
  recursive: taking({ $ref: "#/$defs/n" }, RECURSIVE),
  defaults: taking({
    type: "array",
    items: { type: "object", properties: { x: { default: times(400, (index) => `y${index}`) } } },
  }),
  enum: taking({ type: "array", items: { enum: times(4_000, (index) => `value ${index}`) } }),
  pattern: taking({ type: "array", items: { type: "string", pattern: "^([a-c]{1,20}d?){1,20}$" } }),
  forms: taking({ type: "array", items: { anyOf: times(300, (index) => ({ required: [`r${index}`] })) } }),
  any: taking({}),
};

const nested = (depth: number): unknown => (depth === 0 ? { v: 1 } : { l: nested(depth - 1), r: 1 });

const VALUES: readonly ((size: number, random: Random) => unknown)[] = [
  (size) => times(size / 4, (index) => ({ a: index })),
  (size) => times(size / 3, () => []),
  (size) => times(size / 3, () => ({})),
  (size) => fields(size / 10, (index) => [`k${index}`, 1]),
  (size) => times(size / 12, (index) => `value ${4_000 - (index % 7)}`),
  (size) => times(50, () => "abcd".repeat(size / 250)),
  (_size, random) => nested(random.integer(10, 40)),
  (size) => "x".repeat(size),
];

const expression = (size: number, random: Random): string =>
  random.pick([
    () => "1+".repeat(Math.min(size, 4_000)) + "1",
    () => "[".repeat(size) + "]".repeat(size),
    () => `inputs.${"abcdefgh".repeat(8)}${size}`,
    () => `[${times(Math.min(size, 500), (index) => `steps.s${index}.x`).join(",")}]`,
    () => `[1,2,3].map(x, [1,2,3].map(y, [1,2,3].map(z, x + y + z + ${size})))`,
  ])();

const DEFINITIONS: readonly ((size: number, random: Random) => unknown)[] = [
  (size, random) => ({
    steps: times(Math.min(500, size / 100), (index) => ({
      id: `s${index}`,
      type: "set",
      values: { x: `\${{ ${expression(Math.floor(size / 500), random)} }}` },
    })),
  }),
  (size) => ({ steps: times(size / 3, () => ({})) }),
  (size) => ({ steps: [{ ...SET, ...fields(size / 20, (index) => [`field_${index}`, 1]) }] }),
  (size) => fields(size / 20, (index) => [`field_${index}`, { steps: [] }]),
  (size) => ({ steps: [{ ...SET, values: { x: "${{".repeat(size / 6) } }] }),
  (size) => ({
    steps: [{ id: "q", type: "sql", query: `select ${"'a' \"b\" /* c */ ".repeat(size / 20)}` }],
  }),
  (size) => ({
    steps: times(Math.min(400, size / 2_000), (index) => ({
      id: `w${index}`,
      type: "wait",
      event: {
        schema: { type: "object", properties: fields(40, (at) => [`p${index}_${at}`, { maxLength: at }]) },
      },
    })),
  }),
  (size) => taking({ properties: fields(size / 40, (index) => [`p${index}`, { type: "strin" }]) }),
  () => taking({ $ref: "#/$defs/n", default: nested(20) }, RECURSIVE),
  (size) => ({
    steps: times(Math.min(500, size / 40), (index) => ({
      id: `s${index}`,
      type: "set",
      needs: times(index, (at) => `s${at}`),
      values: {},
    })),
  }),
  (size) => ({
    ...taking({ type: "array", uniqueItems: true }),
    examples: times(10, () => ({ inputs: { a: times(size / 200, (at) => ({ at })) } })),
  }),
];

const YAML: readonly ((size: number) => string)[] = [
  (size) => `steps: [${"[".repeat(60)}${"a,".repeat(size / 3)}${"]".repeat(60)}]`,
  (size) => `steps:\n${"  - {id: a, type: set, values: {x: 1}}\n".repeat(size / 50)}`,
  (size) => times(size / 12, (index) => `k${index}: &a${index} 1`).join("\n"),
  (size) => `steps: "${"\\u0041".repeat(size / 8)}"`,
  (size) => `a: ${"!tag ".repeat(size / 8)}`,
];

/** Maximum size of a generated value, in characters; most are smaller, so that a fuzz has many. */
const sizeOf = (random: Random): number => random.pick([20_000, 100_000, 300_000, MAX_CHARS - 1_000]);

/**
 * Makes one request.
 * @param workflows the ids of workflows with `EXPENSIVE_SCHEMAS`
 */
export function expensiveRequest(
  random: Random,
  workflows: Readonly<Record<string, string>>,
): ExpensiveRequest {
  const size = sizeOf(random);
  const definitionAt = random.integer(0, DEFINITIONS.length - 1);
  const definition = (next: number): unknown => DEFINITIONS[definitionAt]!(next, random);
  const valueAt = random.integer(0, VALUES.length - 1);
  const value = (next: number): unknown => VALUES[valueAt]!(next, random);
  const yamlAt = random.integer(0, YAML.length - 1);
  const schema = random.pick(Object.keys(workflows));
  const fixes = random.integer(0, 3) === 0;
  return random.pick<() => ExpensiveRequest>([
    () => ({
      name: `check of definition ${definitionAt}${fixes ? " with fixes" : ""}`,
      method: "POST",
      path: "/workflows/validate",
      body: fitting((next) => ({ definition: definition(next), apply_fixes: fixes }), size),
    }),
    () => ({
      name: `definition ${definitionAt}, saved`,
      method: "POST",
      path: "/workflows",
      body: fitting((next) => ({ name: "saved", definition: definition(next) }), size),
    }),
    () => ({
      name: `definition ${definitionAt} as text`,
      method: "POST",
      path: "/workflows/validate",
      body: fitting((next) => ({ definition: JSON.stringify(definition(next)) }), size),
    }),
    () => ({
      name: `YAML ${yamlAt}`,
      method: "POST",
      path: "/workflows/validate",
      body: fitting((next) => ({ definition: YAML[yamlAt]!(next) }), size),
    }),
    () => ({
      name: `value ${valueAt} by schema ${schema}`,
      method: "POST",
      path: `/workflows/${workflows[schema]}/runs`,
      body: fitting((next) => ({ inputs: { a: value(next) }, wait: 0 }), size),
    }),
    () => ({
      name: `value ${valueAt} as a patch`,
      method: "PATCH",
      path: `/workflows/${workflows["any"]}`,
      body: fitting(
        (next) => ({
          patch: times(100, () => ({ op: "update_step", id: "a", set: { values: value(next / 100) } })),
        }),
        size,
      ),
    }),
    () => ({
      name: `value ${valueAt} as the body`,
      method: "PUT",
      path: `/workflows/${workflows["any"]}/state`,
      body: fitting((next) => value(next), size),
    }),
    () => ({
      name: `value ${valueAt} as mocks`,
      method: "POST",
      path: "/workflows/validate",
      body: fitting((next) => ({ definition: { steps: [SET] }, mocks: value(next) }), size),
    }),
  ])();
}
