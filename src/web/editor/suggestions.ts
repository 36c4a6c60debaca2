/** Completion for a definition, from its JSON Schema, its steps, and the names that the server has. */
import * as texts from "#texts/editor";
import { expressionBefore, completeExpression, stepSuggestion } from "./expressions.ts";
import type { Format } from "./format.ts";
import { asList, asObject, type Path, valueAt } from "./path.ts";
import { CURSOR_MARKER, type CursorContext, cursorContextAt } from "./cursor-context.ts";
import type { TestedValues } from "./tested-values.ts";
import { isObjectSchema, typeNames, type Schema, resolveSchemaAt, schemaHelp, enumValues } from "./schema.ts";

export interface NamedValue {
  name: string;
  detail?: string | undefined;
}

export interface CompletionData {
  schema: Schema;
  /** Names by field: database, model, server, secret, timezone. */
  names?: Readonly<Record<string, readonly NamedValue[]>>;
  functions?: readonly string[];
  /** The output shape of each step, as validation reported it. */
  steps?: readonly { id: string; output: string }[];
  /** The outputs of the last test. */
  tested?: TestedValues;
}

export interface Suggestion {
  label: string;
  detail?: string | undefined;
  /** A few lines of plain text. */
  info?: string | undefined;
  /** The inserted text; the label by default. */
  apply?: string;
  kind: "property" | "enum" | "variable" | "function";
  /** Suggestions with a higher value come first; 0 by default. */
  boost?: number;
  /** Open completion again after the insertion. */
  reopenCompletion?: boolean;
}

export interface Suggestions {
  /** Start of the word that filters the list. */
  from: number;
  /** The replaced range: the word with its quotes, including its part after the cursor. */
  replace: { from: number; to: number };
  list: Suggestion[];
}

/** @param explicit completion was requested by a key; otherwise free text gets no suggestions */
export function suggest(
  text: string,
  pos: number,
  format: Format,
  data: CompletionData,
  explicit: boolean,
): Suggestions | undefined {
  const context = cursorContextAt(text, pos, format);
  if (context === undefined) return undefined;
  const expression =
    context.role === "key"
      ? undefined
      : expressionBefore(
          text.slice(context.role === "text" ? context.textFrom : context.typedFrom, pos),
          context.path,
        );
  if (expression !== undefined) {
    const { typed, list } = completeExpression(expression, context.path, context.root, data);
    if (typed === "" && !explicit && !/[.{]\s?$/.test(expression)) return undefined;
    const from = pos - typed.length;
    return { from, replace: { from, to: pos }, list };
  }
  if (context.role === "text") return undefined;
  const indent = context.atLineStart ? " ".repeat(column(text, context.from)) : undefined;
  const list =
    context.role === "key"
      ? keys(context, format, data, indent)
      : values(context, context.path, format, data);
  const quoted = context.typedFrom > context.from;
  const isTyping = explicit || quoted || pos > context.typedFrom;
  if (context.role === "key" && !isTyping && !list.some(isEnumerated)) return undefined;
  return { from: context.typedFrom, replace: { from: context.from, to: context.to }, list: distinct(list) };
}

/** Removes duplicates: variants of one field often allow the same values. */
const distinct = (list: readonly Suggestion[]): Suggestion[] => [
  ...new Map(list.map((suggestion) => [suggestion.apply ?? suggestion.label, suggestion])).values(),
];

const isEnumerated = ({ kind }: Suggestion): boolean => kind !== "property";

function keys(context: CursorContext, format: Format, data: CompletionData, indent?: string): Suggestion[] {
  const { path, root, standalone, followedByColon } = context;
  const { variants } = resolveSchemaAt(data.schema, path, withoutMarker(root, path));
  const objects = variants.filter(isObjectSchema);
  const present = new Set(Object.keys(asObject(valueAt(root, path))));
  const all = new Set(objects.flatMap((variant) => Object.keys(variant.properties ?? {})));
  const own = [...all]
    .filter((name) => !present.has(name))
    .map((name) => property(name, objects, { format, followedByColon, indent, data }));
  const style = { present, format, followedByColon };
  if (path.length === 1 && path[0] === "commit")
    return namedKeys(Object.keys(asObject(asObject(root)["state"])), texts.stateKey, style);
  if (path.length === 3 && path[0] === "examples" && path[2] === "given")
    return [
      ...namedKeys(stepIds(root), texts.stepKey, style),
      ...namedKeys(["from_run", "steps"], texts.runKey, style),
    ];
  if (!standalone || followedByColon) return own;
  // A single key may also become a list item, or a scalar value.
  const item = variants.some(({ type }) => type === "array") ? items(context, format, data) : [];
  return [...own, ...(objects.length === 0 ? values(context, path, format, data) : []), ...item];
}

/** The keys of an object whose names stand elsewhere in the definition. */
function namedKeys(
  names: readonly string[],
  detail: string,
  { present, format, followedByColon }: Omit<KeyStyle, "data" | "indent"> & { present: ReadonlySet<string> },
): Suggestion[] {
  return names
    .filter((name) => !present.has(name))
    .map((name) => {
      const key = format === "json" ? JSON.stringify(name) : name;
      return { label: name, kind: "property", detail, apply: followedByColon ? key : `${key}: ` };
    });
}

const stepIds = (root: unknown): string[] =>
  asList(asObject(root)["steps"]).flatMap((step) => {
    const { id } = asObject(step);
    return typeof id === "string" ? [id] : [];
  });

function items(context: CursorContext, format: Format, data: CompletionData): Suggestion[] {
  if (format === "json") return [];
  const inside = values(context, [...context.path, 0], format, data).map((suggestion) =>
    Object.assign({}, suggestion, { apply: `- ${suggestion.apply ?? suggestion.label}` }),
  );
  const { variants } = resolveSchemaAt(data.schema, [...context.path, 0], undefined);
  const first = variants.find(isObjectSchema)?.required?.[0];
  return first === undefined
    ? inside
    : [{ label: `- ${first}`, detail: texts.newListItem, kind: "enum", apply: `- ${first}: ` }];
}

interface KeyStyle {
  format: Format;
  /** The key already has a colon. */
  followedByColon: boolean;
  /** Indentation of the line; undefined between brackets, where the value stays in the line. */
  indent: string | undefined;
  data: CompletionData;
}

function property(name: string, objects: readonly Schema[], style: KeyStyle): Suggestion {
  const owners = objects.filter((variant) => variant.properties?.[name] !== undefined);
  const $defs = style.data.schema.$defs ?? {};
  const variants = owners.flatMap(
    (variant) => resolveSchemaAt({ ...variant, $defs }, [name], undefined).variants,
  );
  const required =
    owners.length === objects.length && owners.every((variant) => variant.required?.includes(name));
  // The step types that have this key, when not all have it.
  const only =
    owners.length < objects.length ? owners.map((variant) => variant.properties?.["type"]?.const) : [];
  const kinds = typeNames(variants);
  const info = schemaHelp(variants);
  return {
    label: name,
    kind: "property",
    detail:
      only.length > 0
        ? texts.forStepTypes({ types: only.join(", ") })
        : required
          ? texts.requiredKey({ kinds })
          : kinds,
    info: info === "" ? undefined : info,
    boost: only.length > 0 ? -1 : required ? 1 : 0,
    apply: keyText(name, variants, style),
    reopenCompletion: true,
  };
}

/** The inserted text of a key, up to the start of its value. */
function keyText(
  name: string,
  variants: readonly Schema[],
  { format, followedByColon, indent }: KeyStyle,
): string {
  const key = format === "json" ? JSON.stringify(name) : name;
  if (followedByColon) return key;
  const blocks = variants.filter(({ type }) => type === "object" || type === "array");
  if (indent === undefined || format === "json" || variants.length === 0 || blocks.length < variants.length)
    return `${key}: `;
  const plain = blocks[0]!.type === "array" && blocks[0]!.items?.type === "string";
  return plain ? `${key}: ` : `${key}:\n${indent}  `;
}

function values(
  context: CursorContext,
  path: Readonly<Path>,
  format: Format,
  data: CompletionData,
): Suggestion[] {
  const value = (text: unknown): string => scalar(text, format);
  const { root } = context;
  const match = resolveSchemaAt(data.schema, path, withoutMarker(root, path));
  const inList = typeof path.at(-1) === "number";
  const field = String(path.at(inList ? -2 : -1));
  if (match.declared && path[0] === "steps" && path[2] === "needs") return otherSteps(root, path, format);
  const named = match.declared ? data.names?.[field] : undefined;
  if (named !== undefined) {
    const isList = !inList && match.variants.every(({ type }) => type === "array");
    const apply = (name: string): string => (isList ? `[${value(name)}]` : value(name));
    return named.map(({ name, detail }) => ({ label: name, kind: "enum", apply: apply(name), detail }));
  }
  const allowed = match.variants.flatMap((variant) =>
    enumValues(variant).map((option) => ({ option, variant })),
  );
  const preset = match.variants.find((variant) => variant.default !== undefined)?.default;
  return allowed.map(({ option, variant }) => ({
    label: String(option),
    kind: "enum",
    apply: value(option),
    detail: option === preset ? texts.defaultValue : undefined,
    // A constant carries the description of its variant.
    info: variant.const === undefined ? undefined : variant.description,
  }));
}

/** The ids that `needs` can name. */
function otherSteps(root: unknown, path: Readonly<Path>, format: Format): Suggestion[] {
  const listed = path.length > 3 ? asList(valueAt(root, path.slice(0, 3))) : [];
  return asList(asObject(root)["steps"])
    .filter((step, at) => at !== path[1] && typeof asObject(step)["id"] === "string")
    .filter((step) => !listed.includes(asObject(step)["id"]))
    .map(stepSuggestion)
    .map((suggestion) => {
      const text = scalar(suggestion.label, format);
      return Object.assign({}, suggestion, { apply: path.length > 3 ? text : `[${text}]` });
    });
}

/** The value without the word under the cursor, which must not select a variant. */
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
