/** Generates requests from the OpenAPI document: valid, slightly wrong, and garbage. */
import * as fc from "fast-check";
import type { Operation, Parameter, Schema } from "./openapi.ts";

export interface GeneratedRequest {
  method: string;
  target: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

/** Values that often cause bugs. */
const nasty = fc.constantFrom(
  "",
  " ",
  "\u0000",
  "\ud800",
  "🦄",
  "__proto__",
  "constructor",
  "null",
  "-1",
  "1e999",
  "%00",
  "%",
  "../..",
  "'; drop table workflows; --",
  "%' or '1'='1",
  "a".repeat(201),
  "\u202e\ufeff",
);
const anyText = fc.oneof(fc.string({ unit: "binary", maxLength: 30 }), fc.string({ maxLength: 300 }), nasty);
const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.object({ maxDepth: 3 }),
  fc.integer({ min: 1, max: 200 }).map((depth) => {
    let value: unknown = {};
    for (let i = 0; i < depth; i += 1) value = i % 2 === 0 ? { a: value } : [value];
    return value;
  }),
);

/** Generates values that the schema allows. */
function valid(schema: Schema): fc.Arbitrary<unknown> {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return fc.oneof(...alternatives.map(valid));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const types = [schema.type ?? "null"].flat();
  return fc.oneof(...types.map((type) => ofType(type, schema)));
}

function ofType(type: string, schema: Schema): fc.Arbitrary<unknown> {
  switch (type) {
    case "string": {
      if (schema.pattern !== undefined && schema.pattern !== "\\S") {
        return fc.stringMatching(new RegExp(schema.pattern));
      }
      const { minLength = 0, maxLength = 200 } = schema;
      const allowed = (text: string): boolean => minLength === 0 || text.trim() !== "";
      const short = fc.string({ unit: "grapheme", minLength, maxLength: Math.min(maxLength, 20) });
      const longest = fc.constantFrom("x", "é", "🦄").map((letter) => letter.repeat(maxLength));
      return fc
        .oneof({ weight: 9, arbitrary: short }, longest)
        .filter((it) => allowed(it) && !it.includes("\0"));
    }
    case "integer":
      return fc.integer({ min: schema.minimum ?? -10, max: schema.maximum ?? 10 });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.uniqueArray(valid(schema.items ?? {}), { maxLength: schema.maxItems ?? 5 });
    case "object": {
      const properties = schema.properties ?? {};
      if (Object.keys(properties).length === 0 && schema.additionalProperties !== false)
        return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
      const fields = Object.fromEntries(Object.entries(properties).map(([key, it]) => [key, valid(it)]));
      return fc.record(fields, { requiredKeys: schema.required ?? [] });
    }
    default:
      return fc.constant(null);
  }
}

/** Generates bodies: valid, mostly with existing values, with one wrong or unknown field, or garbage. */
function body(schema: Schema, known: Readonly<Record<string, readonly string[]>>): fc.Arbitrary<unknown> {
  const made = valid(schema) as fc.Arbitrary<Record<string, unknown> | null>;
  const existing = fc.record(
    Object.fromEntries(
      Object.entries(schema.properties ?? {}).flatMap(([name, { type }]) =>
        type === "string" && known[name] !== undefined ? [[name, fc.constantFrom(...known[name])]] : [],
      ),
    ),
  );
  const right = fc.tuple(made, existing, fc.boolean()).map(([it, values, isExisting]) => {
    if (it === null || !isExisting) return it;
    const replaced = Object.entries(values).filter(([name]) => name in it);
    return Object.assign({}, it, Object.fromEntries(replaced));
  });
  const names = Object.keys(schema.properties ?? { x: {} });
  const field = fc.oneof(
    fc.constantFrom(...(names.length > 0 ? names : ["x"])),
    anyText,
    fc.constantFrom("nmae", "if_match", "workflow_id"),
  );
  const wrong = fc
    .tuple(right, field, fc.oneof(anyJson, anyText))
    .map(([it, key, value]) => Object.fromEntries([...Object.entries(it ?? {}), [key, value]]));
  return fc.oneof({ weight: 4, arbitrary: right }, { weight: 4, arbitrary: wrong }, anyJson);
}

/** Generates values of a parameter: existing ones, allowed ones, or garbage. */
function parameter(
  { in: place, name, schema }: Parameter,
  known: Readonly<Record<string, readonly string[]>>,
) {
  const right = valid(schema)
    .filter((value) => value !== null)
    .map((value) =>
      Array.isArray(value) ? (value as string[]).join(",") : String(value as string | number),
    );
  const options = [{ weight: 4, arbitrary: right }, anyText];
  const real = known[name];
  const any =
    real === undefined
      ? fc.oneof(...options)
      : fc.oneof({ weight: 10, arbitrary: fc.constantFrom(...real) }, ...options);
  // An empty path parameter would make another path.
  return place === "path" ? any.filter((value) => value !== "") : any;
}

const asHeader = (value: string): string => value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "?").trim();
// A path can't contain a lone surrogate.
const inPath = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replaceAll(/^\.{1,2}$/g, "%2E");

const sometimes = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, value);

/** Generates requests for an operation. */
export function arbitraryRequest(
  operation: Operation,
  known: Readonly<Record<string, readonly string[]>>,
): fc.Arbitrary<GeneratedRequest> {
  const of = (place: Parameter["in"]): fc.Arbitrary<Record<string, string>> => {
    const here = operation.parameters.filter((it) => it.in === place);
    const each = here.map((it) => {
      const value = parameter(it, known).map((text): [string, string][] => [[it.name, text]]);
      return it.required ? value : fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, value);
    });
    return fc.tuple(...each).map((all) => Object.fromEntries(all.flat()));
  };
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const json =
    schema === undefined ? fc.constant(undefined) : body(schema, known).map((it) => JSON.stringify(it));
  const garbage = fc.oneof(
    anyText,
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    anyJson.map((it) => JSON.stringify(it)),
  );

  return fc
    .record({
      path: of("path"),
      query: of("query"),
      headers: of("header"),
      extraQuery: sometimes(fc.dictionary(anyText, anyText, { maxKeys: 2 })),
      rawQuery: sometimes(fc.string({ maxLength: 20 })),
      garbage: sometimes(garbage),
      json,
      type: fc.oneof(
        { weight: 15, arbitrary: fc.constant("application/json") },
        fc.constantFrom("text/plain", "application/json; charset=utf-16", "application/x+json", "/", ""),
      ),
      encoding: sometimes(fc.constantFrom("gzip", "br", "identity", "zstd", "nonsense")),
      requestId: sometimes(anyText),
    })
    .map((it) => {
      let target = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => inPath(it.path[name]!));
      const entries: [string, string][] = [
        ...Object.entries(it.query),
        ...Object.entries(it.extraQuery ?? {}),
      ];
      const query = new URLSearchParams(
        entries.map(([key, value]): [string, string] => [key.toWellFormed(), value.toWellFormed()]),
      );
      const raw = it.rawQuery?.replaceAll(/[^\x21-\x7e]|#/g, "") ?? "";
      if (query.size > 0 || raw !== "") target += `?${query.toString()}${raw === "" ? "" : `&${raw}`}`;
      const sent = it.garbage ?? it.json;
      return {
        method: operation.method,
        target,
        headers: Object.fromEntries(
          [
            ...Object.entries(it.headers),
            ...(sent === undefined ? [] : [["Content-Type", it.type]]),
            ...(sent !== undefined && it.encoding !== undefined ? [["Content-Encoding", it.encoding]] : []),
            ...(it.requestId === undefined ? [] : [["X-Request-Id", it.requestId]]),
          ].map(([name, value]) => [name, asHeader(value!)]),
        ),
        body: sent,
      };
    });
}
