/** What can be written at a place of a definition, out of its JSON Schema, its own steps, and what the server has. */
import { expressionBefore, completeExpression, stepSuggestion } from "./expressions.ts";
import type { Format } from "./format.ts";
import { asList, asObject, type Path, valueAt } from "./path.ts";
import { CURSOR_MARKER, type CursorContext, cursorContextAt } from "./cursor-context.ts";
import { isObjectSchema, typeNames, type Schema, resolveSchemaAt, schemaHelp, enumValues } from "./schema.ts";

export interface NamedValue {
  name: string;
  detail?: string | undefined;
}

/** What completion knows besides the text itself. */
export interface CompletionData {
  schema: Schema;
  /** By the field that takes them: database, model, server, secret, timezone. */
  names?: Readonly<Record<string, readonly NamedValue[]>>;
  functions?: readonly string[];
  /** What each step gives, as validation told it. */
  steps?: readonly { id: string; output: string }[];
}

export interface Suggestion {
  label: string;
  detail?: string | undefined;
  /** A few lines of plain text. */
  info?: string | undefined;
  /** What is written; the label where it is left out. */
  apply?: string;
  kind: "property" | "enum" | "variable" | "function";
  /** Higher before lower; 0 where left out. */
  boost?: number;
  /** Something can be chosen behind it at once. */
  reopenCompletion?: boolean;
}

export interface Suggestions {
  /** Where the word begins that choosing goes by. */
  from: number;
  /** What is replaced: with its quotes, and with what of the word stands behind the cursor. */
  replace: { from: number; to: number };
  list: Suggestion[];
}

/** @param explicit asked for by a key: otherwise nothing is offered where anything may be typed */
export function suggest(
  text: string,
  pos: number,
  format: Format,
  known: CompletionData,
  explicit: boolean,
): Suggestions | undefined {
  const place = cursorContextAt(text, pos, format);
  if (place === undefined) return undefined;
  const expression =
    place.role === "key"
      ? undefined
      : expressionBefore(
          text.slice(place.role === "text" ? place.textFrom : place.typedFrom, pos),
          place.path,
        );
  if (expression !== undefined) {
    const { typed, list } = completeExpression(expression, place.path, place.root, known);
    if (typed === "" && !explicit && !/[.{]\s?$/.test(expression)) return undefined;
    const from = pos - typed.length;
    return { from, replace: { from, to: pos }, list };
  }
  if (place.role === "text") return undefined;
  const indent = place.atLineStart ? " ".repeat(column(text, place.from)) : undefined;
  const list =
    place.role === "key" ? keys(place, format, known, indent) : values(place, place.path, format, known);
  const quoted = place.typedFrom > place.from;
  const begun = explicit || quoted || pos > place.typedFrom;
  if (place.role === "key" && !begun && !list.some(isClosed)) return undefined;
  return { from: place.typedFrom, replace: { from: place.from, to: place.to }, list: distinct(list) };
}

/** Forms of one field often allow the same words. */
const distinct = (list: readonly Suggestion[]): Suggestion[] => [
  ...new Map(list.map((it) => [it.apply ?? it.label, it])).values(),
];

const isClosed = ({ kind }: Suggestion): boolean => kind !== "property";

function keys(place: CursorContext, format: Format, known: CompletionData, indent?: string): Suggestion[] {
  const { path, root, standalone, followedByColon } = place;
  const { variants } = resolveSchemaAt(known.schema, path, withoutMarker(root, path));
  const objects = variants.filter(isObjectSchema);
  const present = new Set(Object.keys(asObject(valueAt(root, path))));
  const all = new Set(objects.flatMap((form) => Object.keys(form.properties ?? {})));
  const own = [...all]
    .filter((name) => !present.has(name))
    .map((name) => property(name, objects, { format, colon: followedByColon, indent, known }));
  if (!standalone || followedByColon) return own;
  // A word that stands alone may be an item of a list, or the beginning of one.
  const item = variants.some(({ type }) => type === "array") ? items(place, format, known) : [];
  return [...own, ...(objects.length === 0 ? values(place, path, format, known) : []), ...item];
}

function items(place: CursorContext, format: Format, known: CompletionData): Suggestion[] {
  if (format === "json") return [];
  const inside = values(place, [...place.path, 0], format, known).map((it) =>
    Object.assign({}, it, { apply: `- ${it.apply ?? it.label}` }),
  );
  const { variants } = resolveSchemaAt(known.schema, [...place.path, 0], undefined);
  const first = variants.find(isObjectSchema)?.required?.[0];
  return first === undefined
    ? inside
    : [{ label: `- ${first}`, detail: "begins an item", kind: "enum", apply: `- ${first}: ` }];
}

interface Writing {
  format: Format;
  colon: boolean;
  /** Of the line; undefined between brackets, where a value stays in it. */
  indent: string | undefined;
  known: CompletionData;
}

function property(name: string, objects: readonly Schema[], writing: Writing): Suggestion {
  const having = objects.filter((form) => form.properties?.[name] !== undefined);
  const $defs = writing.known.schema.$defs ?? {};
  const forms = having.flatMap((form) => resolveSchemaAt({ ...form, $defs }, [name], undefined).variants);
  const required = having.length === objects.length && having.every((form) => form.required?.includes(name));
  // Of several forms: which of them it belongs to.
  const only = having.length < objects.length ? having.map((form) => form.properties?.["type"]?.const) : [];
  const kinds = typeNames(forms);
  const info = schemaHelp(forms);
  return {
    label: name,
    kind: "property",
    detail: only.length > 0 ? `of ${only.join(", ")}` : required ? `${kinds}, required` : kinds,
    info: info === "" ? undefined : info,
    boost: only.length > 0 ? -1 : required ? 1 : 0,
    apply: written(name, forms, writing),
    reopenCompletion: true,
  };
}

/** The key as it is written, up to where its value begins. */
function written(name: string, forms: readonly Schema[], { format, colon, indent }: Writing): string {
  const key = format === "json" ? JSON.stringify(name) : name;
  if (colon) return key;
  const blocks = forms.filter(({ type }) => type === "object" || type === "array");
  if (indent === undefined || format === "json" || forms.length === 0 || blocks.length < forms.length)
    return `${key}: `;
  const plain = blocks[0]!.type === "array" && blocks[0]!.items?.type === "string";
  return plain ? `${key}: ` : `${key}:\n${indent}  `;
}

function values(
  place: CursorContext,
  path: Readonly<Path>,
  format: Format,
  known: CompletionData,
): Suggestion[] {
  const value = (text: unknown): string => scalar(text, format);
  const { root } = place;
  const spot = resolveSchemaAt(known.schema, path, withoutMarker(root, path));
  const field = String(path.at(-1));
  if (spot.declared && path[0] === "steps" && path[2] === "needs") return others(root, path, format);
  const named = spot.declared ? known.names?.[field] : undefined;
  if (named !== undefined) {
    return named.map(({ name, detail }) => ({ label: name, kind: "enum", apply: value(name), detail }));
  }
  const words = spot.variants.flatMap((form) => enumValues(form).map((word) => ({ word, form })));
  const left = spot.variants.find((form) => form.default !== undefined)?.default;
  return words.map(({ word, form }) => ({
    label: String(word),
    kind: "enum",
    apply: value(word),
    detail: word === left ? "default" : undefined,
    // A constant tells what the whole of it is.
    info: form.const === undefined ? undefined : form.description,
  }));
}

/** The steps that a step can wait for. */
function others(root: unknown, path: Readonly<Path>, format: Format): Suggestion[] {
  const listed = path.length > 3 ? asList(valueAt(root, path.slice(0, 3))) : [];
  return asList(asObject(root)["steps"])
    .filter((step, at) => at !== path[1] && typeof asObject(step)["id"] === "string")
    .filter((step) => !listed.includes(asObject(step)["id"]))
    .map(stepSuggestion)
    .map((it) => {
      const text = scalar(it.label, format);
      return Object.assign({}, it, { apply: path.length > 3 ? text : `[${text}]` });
    });
}

/** The value as if the word under the cursor were not there: it must not tell forms apart. */
function withoutMarker(root: unknown, path: Readonly<Path>): unknown {
  if (valueAt(root, path) !== CURSOR_MARKER) return root;
  const copy = structuredClone(root);
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string | number, unknown>;
  delete parent[path.at(-1)!];
  return copy;
}

function scalar(value: unknown, format: Format): string {
  const plain =
    typeof value !== "string" || /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z][\w./-]*$/i.test(value);
  return plain && (format === "yaml" || typeof value !== "string") ? String(value) : JSON.stringify(value);
}

function column(text: string, pos: number): number {
  return pos - text.lastIndexOf("\n", pos - 1) - 1;
}
