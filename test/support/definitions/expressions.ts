/** Generates expressions of a known type, and expressions that certainly fail. */
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";

/** The type of a value, as far as the generator knows it. Objects have these fields and no others. */
export type Type = { nullable?: true } & (
  | { kind: "number" | "text" | "boolean" }
  | { kind: "list"; of: Type }
  | { kind: "object"; fields: Readonly<Record<string, Type>> }
);
export type Kind = Type["kind"];

/** A value that expressions can read. */
export interface Known {
  source: string;
  type: Type;
}

type Source = fc.Arbitrary<string>;

export const NUMBER: Type = { kind: "number" };
export const TEXT: Type = { kind: "text" };
export const BOOLEAN: Type = { kind: "boolean" };
export const listOf = (of: Type): Type => ({ kind: "list", of });
export const objectOf = (fields: Readonly<Record<string, Type>>): Type => ({ kind: "object", fields });
export const nullable = (type: Type): Type => ({ ...type, nullable: true });

/** The type that an expression of a kind has, whatever it reads. */
export const typeOf = (kind: Kind): Type =>
  kind === "list" ? listOf(NUMBER) : kind === "object" ? objectOf({ n: NUMBER, t: TEXT }) : { kind };

/** Whether a value, once it is not null, has the type of its kind: a list of objects is no list of numbers. */
const hasTypeOfKind = ({ type }: Known): boolean =>
  isDeepStrictEqual(nullable(type), nullable(typeOf(type.kind)));

/** Everything that can be read through fields of the known values. */
export function reachable(known: readonly Known[], depth = 3): Known[] {
  return known.flatMap((value) => {
    const { source, type } = value;
    if (type.kind !== "object" || depth === 0) return [value];
    const fields = Object.entries(type.fields).map(([name, of]): Known => ({
      source: `${source}.${name}`,
      // A field of null is null.
      type: type.nullable === true ? nullable(of) : of,
    }));
    return [value, ...reachable(fields, depth - 1)];
  });
}

const NUMBERS = fc.constantFrom("0", "1", "2", "7", "2.5", "1000000");
const TEXTS = fc.constantFrom("''", "'a'", "'b c'", '"2026-01-31"', "'12'");
const BOOLEANS = fc.constantFrom("true", "false");

/**
 * Generates an expression of the given kind that is not null.
 * @param nullables whether operands may be null, which the checker warns of
 */
export function expressionOf(kind: Kind, known: readonly Known[], nullables = false, depth = 2): Source {
  const readable = known.filter((value) => value.type.kind === kind && hasTypeOfKind(value));
  const present = readable.filter(({ type }) => type.nullable !== true).map(({ source }) => source);
  const absent = readable.filter(({ type }) => type.nullable === true).map(({ source }) => source);
  const literal = literalOf(kind);
  const leaves: Source[] = [
    literal,
    ...(present.length > 0 ? [fc.constantFrom(...present), fc.constantFrom(...present)] : []),
    ...(absent.length > 0
      ? [
          fc.tuple(fc.constantFrom(...absent), literal).map(([path, other]) => `(${path} ?? ${other})`),
          fc
            .tuple(fc.constantFrom(...absent), literal)
            .map(([path, other]) => `(${path} == null ? ${other} : ${path})`),
          ...(nullables ? Array.from({ length: 6 }, () => fc.constantFrom(...absent)) : []),
        ]
      : []),
  ];
  if (depth === 0) return fc.oneof(...leaves);
  const inner = (of: Kind): Source => expressionOf(of, known, nullables, depth - 1);
  const choice = fc
    .tuple(inner("boolean"), inner(kind), inner(kind))
    .map(([condition, yes, no]) => `(${condition} ? ${yes} : ${no})`);
  return fc.oneof(
    ...leaves,
    ...leaves,
    ...operations(kind, known, inner),
    ...(kind === "list" ? [] : [choice]),
  );
}

function literalOf(kind: Kind): Source {
  switch (kind) {
    case "number":
      return NUMBERS;
    case "text":
      return TEXTS;
    case "boolean":
      return BOOLEANS;
    case "list":
      return fc.array(NUMBERS, { minLength: 1, maxLength: 3 }).map((items) => `[${items.join(", ")}]`);
    case "object":
      return fc.tuple(NUMBERS, TEXTS).map(([n, t]) => `{'n': ${n}, 't': ${t}}`);
  }
}

function operations(kind: Kind, known: readonly Known[], inner: (of: Kind) => Source): Source[] {
  const binary = (of: Kind, ...operators: string[]): Source =>
    fc
      .tuple(inner(of), fc.constantFrom(...operators), inner(of))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`);
  const call = (of: Kind, ...names: string[]): Source =>
    fc.tuple(fc.constantFrom(...names), inner(of)).map(([name, arg]) => `${name}(${arg})`);
  const numbers = numberLists(known);
  switch (kind) {
    case "number":
      return [
        binary("number", "+", "-", "*"),
        inner("number").map((n) => `(${n} / 4)`),
        inner("number").map((n) => `(${n} % 7)`),
        call("number", "abs", "floor", "ceil"),
        call("text", "size"),
        fc.constantFrom(...numbers).map((list) => `${list}.sum()`),
        fc.constantFrom(...numbers).map((list) => `${list}.map(x, x * 2).filter(x, x > 1).size()`),
      ];
    case "text":
      return [
        binary("text", "+"),
        call("text", "upper", "lower", "trim"),
        call("number", "string"),
        call("boolean", "string"),
        call("object", "to_json"),
        fc.constantFrom(...numbers).map((list) => `${list}.map(x, string(x)).join('-')`),
      ];
    case "boolean":
      return [
        binary("number", "==", "!=", "<", ">="),
        binary("text", "==", "<"),
        binary("boolean", "&&", "||"),
        inner("boolean").map((condition) => `!(${condition})`),
        fc.tuple(inner("text"), inner("text")).map(([of, part]) => `${of}.contains(${part})`),
        ...(known.length > 0
          ? [fc.constantFrom(...known.map(({ source }) => source)).map((path) => `(${path} != null)`)]
          : []),
      ];
    case "list":
      return [fc.constantFrom(...numbers).map((list) => `${list}.map(x, x + 1)`)];
    case "object":
      return [fc.tuple(inner("number"), inner("text")).map(([n, t]) => `{'n': ${n}, 't': ${t}}`)];
  }
}

const numberLists = (known: readonly Known[]): string[] => [
  "[1, 2, 3]",
  ...known.flatMap(({ source, type }) =>
    type.kind === "list" && type.nullable !== true && type.of.kind === "number" && type.of.nullable !== true
      ? [source]
      : [],
  ),
];

/** The types of the operands of an operation that fails whatever their values are. */
const FAILING: readonly (readonly [template: string, ...operands: Kind[]])[] = [
  ["$ - 1", "text"],
  ["$ + $", "number", "text"],
  ["$ * 2", "boolean"],
  ["$ < $", "text", "number"],
  ["-($)", "text"],
  ["upper($)", "number"],
  ["abs($)", "text"],
  ["sum($)", "number"],
  ["$.map(x, x)", "number"],
  ["$.size().a", "text"],
  ["$ && true", "number"],
  ["$ ? 1 : 2", "text"],
  ["$.contains($)", "text", "number"],
  ["$.nope", "object"],
  ["$[0].a", "list"],
  ["size($)", "number"],
  ["round($, 1)", "text"],
  ["[1, 2].join($)", "number"],
];
/** Expressions that fail without operands. */
const CLOSED_FAILING = [
  "nope",
  "inputs.nope",
  "run.nope",
  "steps.nope.x",
  "uper('a')",
  "'a'.nope()",
  "1 +",
  "item",
] as const;

/** Generates an expression that fails whenever it is evaluated. */
export function failingExpression(known: readonly Known[]): Source {
  const certain = known.filter(({ type }) => type.nullable !== true);
  return fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...CLOSED_FAILING) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(...FAILING).chain(([template, ...kinds]) => {
        const operands = kinds.map((kind) => {
          // Lists of numbers: an item of another type might have the field.
          const paths = certain.filter(
            ({ type }) => type.kind === kind && (type.kind !== "list" || type.of.kind === "number"),
          );
          return paths.length > 0 ? fc.constantFrom(...paths.map(({ source }) => source)) : literalOf(kind);
        });
        return fc.tuple(...operands).map((sources) => {
          let next = 0;
          return template.replaceAll("$", () => sources[next++]!);
        });
      }),
    },
  );
}
