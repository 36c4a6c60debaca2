/** Generates definitions: sound ones, and ones with one mistake that certainly makes a run fail. */
import * as fc from "fast-check";
import {
  BOOLEAN,
  expressionOf,
  failingExpression,
  type Kind,
  type Known,
  listOf,
  nullable,
  NUMBER,
  objectOf,
  reachable,
  TEXT,
  type Type,
  typeOf,
} from "./expressions.ts";

export interface Generated {
  definition: Record<string, unknown> & { steps: Record<string, unknown>[] };
  inputs: Record<string, unknown>;
  /** The mistake, for messages; null in a sound definition. */
  mistake: string | null;
}

/** A query with what the generator knows of its rows; it reads the table `facts`, which has rows. */
interface Query {
  query: string;
  row: Readonly<Record<string, Type>>;
  params?: Readonly<Record<string, Kind>>;
}

const FACT = { n: nullable(NUMBER), t: nullable(TEXT) };
/** Columns that the row does not name are compared with what the checker claims, and not used in expressions. */
const QUERIES: readonly Query[] = [
  { query: "SELECT n, t, m FROM facts ORDER BY n", row: {} },
  { query: "SELECT t FROM facts WHERE t <> :t", row: { t: nullable(TEXT) }, params: { t: "text" } },
  { query: "SELECT * FROM facts WHERE n + 0.5 > :n", row: { t: nullable(TEXT) }, params: { n: "number" } },
  { query: "SELECT AVG(n) AS a, SUM(n) AS s, COUNT(*) AS c, MAX(t) AS t FROM facts", row: {} },
  { query: "SELECT n / 3 AS q, n * 1.5 AS p, n + m AS s FROM facts", row: {} },
  { query: "SELECT CASE WHEN n > 1 THEN NULL ELSE t END AS c FROM facts", row: {} },
  { query: "SELECT n AS x FROM facts UNION ALL SELECT n + 1 FROM facts", row: {} },
  { query: "SELECT t, COUNT(*) AS c FROM facts WHERE n < 0 GROUP BY t", row: {} },
];
const WRONG_QUERIES = [
  "SELECT nope FROM facts",
  "SELECT n FROM nope",
  "SELEC n FROM facts",
  "SELECT n FROM facts WHERE n = :missing",
  "DELETE FROM facts",
];

const FIELD_TYPES: readonly (readonly [schema: object, type: Type, value: unknown])[] = [
  [{ type: "number" }, NUMBER, 3],
  [{ type: "integer" }, NUMBER, 0],
  [{ type: "string" }, TEXT, "given"],
  [{ type: "boolean" }, BOOLEAN, true],
  [{ type: "array", items: { type: "number" } }, listOf(NUMBER), [4, 5]],
  [
    {
      type: "object",
      properties: { n: { type: "number" }, t: { type: "string" } },
      required: ["n"],
    },
    objectOf({ n: NUMBER, t: nullable(TEXT) }),
    { n: 1 },
  ],
  [
    {
      type: "array",
      items: { type: "object", properties: { n: { type: "number" }, t: { type: "string" } } },
    },
    listOf(objectOf(FACT)),
    [{ n: 1, t: "a" }, { n: 2 }, {}],
  ],
];

interface InputField {
  schema: object;
  type: Type;
  /** Undefined if the run does not get it. */
  value: unknown;
  required: boolean;
}

const inputField: fc.Arbitrary<InputField> = fc
  .tuple(
    fc.constantFrom(...FIELD_TYPES),
    fc.constantFrom("required", "absent", "null", "given", "default"),
    fc.boolean(),
  )
  .map(([[schema, type, value], presence, isNullable]) => {
    if (presence === "required") return { schema, type, value, required: true };
    if (presence === "default")
      return {
        schema: { ...schema, default: value },
        type,
        value: isNullable ? null : undefined,
        required: false,
      };
    const given = presence === "given" ? value : presence === "null" ? null : undefined;
    return { schema, type: nullable(type), value: given, required: false };
  });

/** What is known while steps are generated one after the other. */
interface Scope {
  known: readonly Known[];
  databases: readonly string[];
}

interface Step {
  step: Record<string, unknown>;
  /** The type of `steps.<id>`; null if nothing of it is used. */
  type: Type | null;
}

const KINDS = fc.constantFrom<Kind>("number", "text", "boolean", "list", "object");
const template = (source: string): string => `\${{ ${source} }}`;

/** Values of a `set` step: names with expressions of a kind. */
const valuesOf = (known: readonly Known[], nullables: boolean) =>
  fc
    .uniqueArray(fc.constantFrom("x", "y", "z"), { minLength: 1, maxLength: 3 })
    .chain((names) =>
      fc.tuple(
        ...names.map((name) =>
          KINDS.chain((kind) =>
            expressionOf(kind, known, nullables).map((source) => ({ name, kind, source })),
          ),
        ),
      ),
    );

const withValues = (values: readonly { name: string; kind: Kind; source: string }[]) => ({
  values: Object.fromEntries(values.map(({ name, source }) => [name, template(source)])),
  type: objectOf(Object.fromEntries(values.map(({ name, kind }) => [name, typeOf(kind)]))) as Extract<
    Type,
    { kind: "object" }
  >,
});

const STATUS = { status: TEXT };
const ERROR = nullable(
  objectOf({
    code: TEXT,
    message: TEXT,
    fix: nullable(TEXT),
    step_id: nullable(TEXT),
    item: nullable(NUMBER),
  }),
);

const nullFields = (fields: Readonly<Record<string, Type>>): Record<string, Type> =>
  Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, nullable(type)]));

function setStep({ known }: Scope, id: string): fc.Arbitrary<Step> {
  return fc
    .tuple(valuesOf(known, false), fc.option(expressionOf("boolean", known), { freq: 3 }))
    .map(([values, condition]) => {
      const made = withValues(values);
      const fields = condition === null ? made.type.fields : nullFields(made.type.fields);
      return {
        step: { id, type: "set", ...(condition !== null && { if: condition }), values: made.values },
        type: objectOf({ ...fields, ...STATUS }),
      };
    });
}

/** Operands may be null, so that it may fail as `null_value`: then the checker must have warned. */
function nullableStep({ known }: Scope, id: string): fc.Arbitrary<Step> {
  return valuesOf(known, true).map((values) => ({
    step: { id, type: "set", values: withValues(values).values },
    type: null,
  }));
}

function fanOutStep({ known }: Scope, id: string): fc.Arbitrary<Step> {
  const lists = known.filter(({ type }) => type.kind === "list" && type.nullable !== true);
  const over: Known[] = [{ source: "[1, 2, 3]", type: listOf(NUMBER) }, ...lists];
  return fc.constantFrom(...over).chain(({ source, type }) => {
    const item: Known = { source: "item", type: (type as Extract<Type, { kind: "list" }>).of };
    const inner = [...known, ...reachable([item]), { source: "index", type: NUMBER }];
    return valuesOf(inner, false).map((values) => {
      const made = withValues(values);
      return {
        step: { id, type: "set", for_each: source, values: made.values },
        type: objectOf({ items: listOf(objectOf({ ...made.type.fields, ...STATUS })) }),
      };
    });
  });
}

function failingStep(_: Scope, id: string): fc.Arbitrary<Step> {
  return fc.boolean().map((inItems) => {
    const step = { id, type: "assert", that: false, message: "No.", on_error: "continue" };
    return inItems
      ? { step: { ...step, for_each: "[1, 2]" }, type: null }
      : { step, type: objectOf({ error: ERROR, ok: nullable(BOOLEAN), ...STATUS }) };
  });
}

function assertStep({ known }: Scope, id: string): fc.Arbitrary<Step> {
  return fc.tuple(expressionOf("number", known), expressionOf("text", known)).map(([n, text]) => ({
    step: { id, type: "assert", that: `${n} == ${n} || true`, message: `It is ${template(text)}.` },
    type: null,
  }));
}

function waitStep(_: Scope, id: string): fc.Arbitrary<Step> {
  return fc.constant({
    step: { id, type: "wait", until: "2020-01-01T00:00:00Z" },
    type: objectOf({ waited_until: TEXT, ...STATUS }),
  });
}

function sqlStep({ known, databases }: Scope, id: string): fc.Arbitrary<Step> {
  return fc.tuple(fc.constantFrom(...databases), fc.constantFrom(...QUERIES)).chain(([database, query]) => {
    const params = Object.entries(query.params ?? {});
    return fc.tuple(...params.map(([, kind]) => expressionOf(kind, known, false, 1))).map((sources) => ({
      step: {
        id,
        type: "sql",
        database,
        query: query.query,
        ...(params.length > 0 && {
          params: Object.fromEntries(params.map(([name], index) => [name, template(sources[index]!)])),
        }),
      },
      type: objectOf({ rows: listOf(objectOf(query.row)), row_count: NUMBER, ...STATUS }),
    }));
  });
}

function scratchStep({ known }: Scope, id: string): fc.Arbitrary<Step> {
  const lists = known.filter(
    ({ type }) =>
      type.kind === "list" &&
      type.nullable !== true &&
      type.of.kind === "object" &&
      Object.keys(type.of.fields).length > 0,
  );
  const over = [{ source: "[{'n': 1, 't': 'a'}, {'n': null, 't': 'b'}]" }, ...lists];
  return fc.tuple(fc.constantFrom(...over), fc.boolean()).map(([{ source }, all]) => ({
    step: {
      id,
      type: "sql",
      database: "scratch",
      tables: { given: template(source) },
      query: all ? "SELECT * FROM given" : "SELECT COUNT(*) AS c FROM given",
    },
    type: objectOf({ row_count: NUMBER, ...STATUS }),
  }));
}

const STEPS = [
  { weight: 4, make: setStep },
  { weight: 1, make: nullableStep },
  { weight: 3, make: fanOutStep },
  { weight: 1, make: failingStep },
  { weight: 1, make: assertStep },
  { weight: 1, make: waitStep },
  { weight: 3, make: sqlStep },
  { weight: 2, make: scratchStep },
];

/** Mistakes that make every run fail, in a step that always runs. */
function mistakeStep({ known, databases }: Scope, id: string): fc.Arbitrary<Record<string, unknown>> {
  const failing = failingExpression(known);
  const set = (values: unknown, more: object = {}) => ({ id, type: "set", values, ...more });
  return fc.oneof(
    { weight: 6, arbitrary: failing.map((source) => set({ x: template(source) })) },
    { weight: 1, arbitrary: failing.map((source) => set({ x: `It is ${template(source)}.` })) },
    { weight: 1, arbitrary: failing.map((source) => ({ id, type: "assert", that: source })) },
    { weight: 1, arbitrary: failing.map((source) => set({ x: 1 }, { if: source })) },
    { weight: 1, arbitrary: failing.map((source) => set({ x: 1 }, { for_each: source })) },
    { weight: 1, arbitrary: failing.map((source) => set({ x: template(source) }, { for_each: "[1, 2]" })) },
    {
      weight: 1,
      arbitrary: expressionOf("number", known).map((source) => set({ x: 1 }, { for_each: source })),
    },
    { weight: 1, arbitrary: expressionOf("text", known).map((source) => set({ x: 1 }, { if: source })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(...databases), fc.constantFrom(...WRONG_QUERIES))
        .map(([database, query]) => ({ id, type: "sql", database, query })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...databases).map((database) => ({
        id,
        type: "sql",
        database,
        query: "SELECT n FROM facts WHERE t = :t",
        params: { t: "${{ [1] }}" },
      })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        set({ x: 1 }, { timeout: "5 minutes" }),
        set({ x: 1 }, { tiemout: "5s" }),
        set({ status: 1 }),
        { id, type: "sett", values: {} },
        { id, type: "wait", until: "tomorrow" },
        { id, type: "sql", database: "nope", query: "SELECT 1 AS x" },
        { id, type: "workflow", workflow: "nope" },
      ),
    },
  );
}

/**
 * Generates definitions, most of them sound.
 * @param databases names of databases with the table `facts`
 */
export function definitions(databases: readonly string[]): fc.Arbitrary<Generated> {
  const run: Known[] = [
    { source: "run.id", type: TEXT },
    { source: "run.started_at", type: TEXT },
    { source: "run.scheduled_for", type: nullable(TEXT) },
  ];
  return fc
    .tuple(
      fc.dictionary(fc.constantFrom("a", "b", "c", "d"), inputField, { maxKeys: 4 }),
      fc.integer({ min: 1, max: 4 }),
      fc.option(fc.constant(null), { freq: 2, nil: "mistake" as const }),
    )
    .chain(([fields, count, mistake]) => {
      const names = Object.keys(fields);
      const schema = {
        type: "object",
        properties: Object.fromEntries(names.map((name) => [name, fields[name]!.schema])),
        required: names.filter((name) => fields[name]!.required),
      };
      const inputs = Object.fromEntries(
        names.flatMap((name) => (fields[name]!.value === undefined ? [] : [[name, fields[name]!.value]])),
      );
      const given = names.map((name): Known => ({ source: `inputs.${name}`, type: fields[name]!.type }));
      return stepsFrom({ known: [...run, ...reachable(given)], databases }, count, mistake !== null).map(
        ({ steps, wrong }): Generated => {
          const ids = steps.map(({ id }) => String(id));
          const output = Object.fromEntries(ids.map((id) => [id, `\${{ steps.${id} }}`]));
          return {
            definition: { inputs: schema, steps, output: { ...output, inputs: "${{ inputs }}" } },
            inputs,
            mistake: wrong,
          };
        },
      );
    });
}

/** Generates the steps one after the other, each with what the ones before it return. */
function stepsFrom(
  scope: Scope,
  count: number,
  withMistake: boolean,
  done: Record<string, unknown>[] = [],
): fc.Arbitrary<{ steps: Record<string, unknown>[]; wrong: string | null }> {
  const id = `s${done.length}`;
  if (count === 0)
    return withMistake
      ? mistakeStep(scope, id).map((step) => ({ steps: [...done, step], wrong: JSON.stringify(step) }))
      : fc.constant({ steps: done, wrong: null });
  const step = fc.oneof(...STEPS.map(({ weight, make }) => ({ weight, arbitrary: make(scope, id) })));
  return step.chain((next) => {
    const added = next.type === null ? [] : reachable([{ source: `steps.${id}`, type: next.type }]);
    const known = [...scope.known, ...added.filter(({ source }) => source !== `steps.${id}`)];
    return stepsFrom({ ...scope, known }, count - 1, withMistake, [...done, next.step]);
  });
}
