/**
 * Reads the arguments of a call as models write them: null for a field that they leave out, JSON text for an object, text
 * for a number, one value for a list of one. What remains different from the schema is refused by it.
 */
import { z } from "zod";
import type { Issue } from "../../../schemas/problem.ts";
import { formatPath } from "../../core/issues.ts";
import { isNestedDeeper, MAX_REQUEST_DEPTH, tooDeepIssue } from "../../core/json-nesting.ts";
import { readJson } from "../../core/json-text.ts";

type Node = Readonly<Record<string, unknown>>;
type Path = readonly PropertyKey[];

/** The arguments in the form of the schema, and the issues of JSON text in them that does not say what it holds. */
export interface ReadArguments {
  input: Record<string, unknown>;
  issues: Issue[];
}

/** Creates the reader for an operation; the JSON Schema is computed once. */
export function argumentReader(
  schema: z.ZodObject,
): (args: Readonly<Record<string, unknown>>) => ReadArguments {
  let root: Node | undefined;
  return (args) => {
    root ??= z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" }) as Node;
    const issues: Issue[] = [];
    return { input: readObject(root, args, [], issues), issues };
  };
}

/** Reads the fields that the schema names. The content of other objects is the author's, and null is a value in it. */
function readObject(node: Node, value: object, path: Path, issues: Issue[]): Record<string, unknown> {
  const properties = (node["properties"] ?? {}) as Readonly<Record<string, Node>>;
  const required = new Set(node["required"] as readonly string[] | undefined);
  const fields = Object.entries(value)
    .filter(([key, field]) => field !== null || !Object.hasOwn(properties, key) || required.has(key))
    .map(([key, field]): [string, unknown] => {
      const inner = Object.hasOwn(properties, key) ? properties[key] : undefined;
      return [key, inner === undefined ? field : read(inner, field, [...path, key], issues)];
    });
  return Object.fromEntries(fields);
}

function read(node: Node, value: unknown, path: Path, issues: Issue[]): unknown {
  const options = optionsOf(node);
  const optionOf = (type: string) => options.find((option) => option["type"] === type);
  const list = optionOf("array");
  const object = optionOf("object");
  if (typeof value === "string") {
    if (optionOf("string") !== undefined || options.some((option) => option["type"] === undefined))
      return value;
    return readText(node, value, path, issues);
  }
  if (Array.isArray(value)) {
    if (list !== undefined) return readItems(list, value, path, issues);
    return value.length === 1 && optionOf("string") !== undefined && typeof value[0] === "string"
      ? value[0]
      : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (object !== undefined) return readObject(object, value, path, issues);
  return itemTakes(list, "object") ? readItems(list!, [value], path, issues) : value;
}

function readText(node: Node, text: string, path: Path, issues: Issue[]): unknown {
  const types = new Set(optionsOf(node).map((option) => option["type"]));
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true";
  if ((types.has("integer") || types.has("number")) && /^-?\d{1,15}(?:\.\d{1,9})?$/.test(text))
    return Number(text);
  if (types.has("array") || types.has("object")) {
    if (isContainer(text) && isNestedDeeper(text, MAX_REQUEST_DEPTH)) {
      issues.push(tooDeepIssue(formatPath(path)));
      return text;
    }
    const parsed = parseContainer(text);
    if (parsed !== undefined && types.has(Array.isArray(parsed.value) ? "array" : "object")) {
      for (const issue of parsed.issues)
        issues.push({ ...issue, path: joinPaths(formatPath(path), issue.path) });
      return read(node, parsed.value, path, issues);
    }
  }
  const list = optionsOf(node).find((option) => option["type"] === "array");
  // With a comma it may be several values, which the caller must tell apart.
  return itemTakes(list, "string") && /^[^,;[{]+$/.test(text) ? [text] : text;
}

const readItems = (list: Node, items: readonly unknown[], path: Path, issues: Issue[]): unknown[] => {
  const inner = list["items"] as Node | undefined;
  return inner === undefined
    ? [...items]
    : items.map((item, index) => read(inner, item, [...path, index], issues));
};

/** The alternatives of a schema: those of its `anyOf`, or itself. A list of types is one alternative for each. */
function optionsOf(node: Node): readonly Node[] {
  const { anyOf, type } = node;
  if (Array.isArray(type)) return type.map((one: unknown) => Object.assign({}, node, { type: one }));
  return Array.isArray(anyOf) ? (anyOf as Node[]).flatMap(optionsOf) : [node];
}

const itemTakes = (list: Node | undefined, type: string): boolean =>
  list !== undefined && optionsOf((list["items"] ?? {}) as Node).some((option) => option["type"] === type);

const isContainer = (text: string): boolean => /^\s*[[{]/.test(text);

const joinPaths = (outer: string, inner: string): string =>
  outer === "" || inner === "" || inner.startsWith("[") ? outer + inner : `${outer}.${inner}`;

/** The object or list that a text holds; undefined for any other text. */
function parseContainer(text: string): ReturnType<typeof readJson> | undefined {
  if (!isContainer(text)) return undefined;
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
