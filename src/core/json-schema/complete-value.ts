/**
 * Brings values into the form that their schema declares: makes every declared field present. Expressions then read null where
 * the value has nothing, and the shape of the schema (`shapeOfSchema`) holds.
 */
import { acceptsType, formMatcher, type Question } from "./accepted-types.ts";
import type { JsonSchema } from "./dialect.ts";
import { resolveRef } from "./references.ts";

/** Maximum number of schemas that apply to one value through references and combinations. More are ignored. */
const MAX_APPLYING = 100;

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields that a value leaves out would make it too large. */
export class CompletedTooLarge extends Error {}

interface Completion {
  root: JsonSchema;
  /** Number of characters of JSON that may still be filled in. */
  remaining: number;
}

/**
 * Fills in the declared fields that a valid value lacks: with their default, else with null.
 * @param schema any value: what is not a schema declares nothing
 * @param value JSON that matches the schema; it is not changed
 * @param maxChars maximum size of all fields that are filled in, in characters of JSON; default: no limit
 * @returns the value itself if nothing is missing
 * @throws CompletedTooLarge
 */
export const completeValue = (schema: unknown, value: unknown, maxChars = Infinity): unknown =>
  complete([schema], value, { root: isObject(schema) ? schema : {}, remaining: maxChars });

function complete(schemas: readonly unknown[], value: unknown, completion: Completion): unknown {
  if (typeof value !== "object" || value === null) return value;
  const applying = applyingSchemas(schemas, value, completion.root);
  if (applying.length === 0) return value;
  return Array.isArray(value)
    ? unlessSame(value, (item, index) => complete(itemSchemas(applying, index), item, completion))
    : completeObject(applying, value as Fields, completion);
}

function completeObject(applying: readonly JsonSchema[], value: Fields, completion: Completion): Fields {
  const names = new Set([
    ...Object.keys(value),
    ...applying.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])),
  ]);
  let isSame = true;
  const entries = [...names].map((name) => {
    const schemas = fieldSchemas(applying, name);
    const given = Object.hasOwn(value, name) ? value[name] : filledIn(name, schemas, completion);
    const completed = complete(schemas, given, completion);
    isSame &&= Object.hasOwn(value, name) && completed === value[name];
    return [name, completed] as const;
  });
  return isSame ? value : Object.fromEntries(entries);
}

function filledIn(name: string, schemas: readonly unknown[], completion: Completion): unknown {
  const value = defaultOf(schemas);
  completion.remaining -= name.length + 4 + (value === null ? 4 : JSON.stringify(value).length);
  if (completion.remaining < 0) throw new CompletedTooLarge();
  return value;
}

/** A copy of the default, because every value is its own. */
const defaultOf = (schemas: readonly unknown[]): unknown => {
  const schema = schemas.find((each) => isObject(each) && Object.hasOwn(each, "default"));
  return schema === undefined ? null : structuredClone((schema as JsonSchema)["default"]);
};

/**
 * Drops each null that stands for an absent field: the field is declared, is not required, and its schema does not accept
 * null.
 * @param value JSON; it is not changed
 */
export const withoutAbsentFields = (schema: unknown, value: unknown): unknown =>
  dropAbsent([schema], value, isObject(schema) ? schema : {});

function dropAbsent(schemas: readonly unknown[], value: unknown, root: JsonSchema): unknown {
  if (typeof value !== "object" || value === null) return value;
  const applying = applyingSchemas(schemas, value, root);
  if (applying.length === 0) return value;
  if (Array.isArray(value))
    return unlessSame(value, (item, index) => dropAbsent(itemSchemas(applying, index), item, root));
  const required = new Set(applying.flatMap((schema) => schema["required"] ?? []));
  const isOptional = (name: string): boolean =>
    !required.has(name) &&
    applying.some(({ properties }) => isObject(properties) && Object.hasOwn(properties, name));
  let isSame = true;
  const entries = Object.entries(value).flatMap(([name, given]: [string, unknown]) => {
    const inner = fieldSchemas(applying, name);
    const isAbsent =
      given === null &&
      isOptional(name) &&
      inner.some((schema) => !acceptsType(schema, { kind: "null", root, known: new Map() }));
    const kept = isAbsent ? undefined : dropAbsent(inner, given, root);
    isSame &&= kept === given;
    return isAbsent ? [] : [[name, kept] as const];
  });
  return isSame ? value : Object.fromEntries(entries);
}

/** Maps a list; returns the list itself if no item changes. */
function unlessSame(list: readonly unknown[], map: (item: unknown, index: number) => unknown): unknown {
  const mapped = list.map(map);
  return mapped.every((item, index) => item === list[index]) ? list : mapped;
}

function fieldSchemas(applying: readonly JsonSchema[], name: string): unknown[] {
  return applying.flatMap((schema) => {
    const { properties, additionalProperties, patternProperties } = schema;
    if (isObject(properties) && Object.hasOwn(properties, name)) return [properties[name]];
    return additionalProperties === undefined || patternProperties !== undefined
      ? []
      : [additionalProperties];
  });
}

const itemSchemas = (applying: readonly JsonSchema[], index: number): unknown[] =>
  applying.flatMap(({ prefixItems, items }) => {
    const prefix: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
    return index < prefix.length ? [prefix[index]] : items === undefined ? [] : [items];
  });

/** Follows `$ref`, `allOf`, and `anyOf` and `oneOf` where only one of the forms can be meant. */
function applyingSchemas(schemas: readonly unknown[], value: object, root: JsonSchema): JsonSchema[] {
  const found: JsonSchema[] = [];
  const queue = [...schemas];
  const canMatch = formMatcher(value, root);
  // The list grows while it is walked.
  for (const next of queue) {
    if (!isObject(next)) continue;
    if (found.length === MAX_APPLYING) break;
    found.push(next);
    const { $ref, allOf, anyOf, oneOf } = next;
    if (typeof $ref === "string") queue.push(resolveRef($ref, root));
    if (Array.isArray(allOf)) queue.push(...(allOf as unknown[]));
    for (const forms of [anyOf, oneOf]) {
      if (!Array.isArray(forms)) continue;
      const possible = forms.filter(canMatch);
      if (possible.length === 1) queue.push(possible[0]);
    }
  }
  return found;
}

/**
 * Makes a list of each field of a form that is a text where its schema accepts lists and no texts: a list of one item is sent as
 * a field that occurs once.
 * @param fields texts and lists; anything else is returned as it is
 */
export function withDeclaredLists(schema: unknown, fields: unknown): unknown {
  if (!isObject(schema) || !isObject(fields)) return fields;
  const applying = alwaysApplying(schema);
  const lists: Question = { kind: "array", root: schema, known: new Map() };
  const texts: Question = { kind: "string", root: schema, known: new Map() };
  const isList = (name: string): boolean => {
    const schemas = fieldSchemas(applying, name);
    return (
      schemas.length > 0 &&
      schemas.every((each) => acceptsType(each, lists)) &&
      !schemas.every((each) => acceptsType(each, texts))
    );
  };
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "string" && isList(name) ? [value] : value,
    ]),
  );
}

/** The schemas that apply to every value: those of `$ref` and `allOf`. */
function alwaysApplying(schema: JsonSchema): JsonSchema[] {
  const found: unknown[] = [schema];
  // The list grows while it is walked.
  for (const next of found) {
    if (!isObject(next) || found.length > MAX_APPLYING) continue;
    const { $ref, allOf } = next;
    if (typeof $ref === "string") found.push(resolveRef($ref, schema));
    if (Array.isArray(allOf)) found.push(...(allOf as unknown[]));
  }
  return found.filter(isObject).slice(0, MAX_APPLYING);
}
