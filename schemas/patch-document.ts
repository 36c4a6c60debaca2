/** Changes YAML and JSON as a document of the library. Comments and the form of everything else stay. */
import { type Document, isMap, isScalar, isSeq, type Node, parseDocument, Scalar, visit } from "yaml";
import { diffJson } from "./json-diff.ts";
import type { JsonPatchOperation } from "./problem.ts";
import { styleTexts } from "./yaml-render.ts";

export const YAML_OPTIONS = {
  version: "1.2",
  schema: "core",
  // The callers have parsed the text before.
  uniqueKeys: false,
  logLevel: "error",
} as const;

/**
 * Changes a flow collection (`{ a: 1 }`).
 * @param source its text
 * @param before what it says
 */
export function patchFlow(source: string, before: unknown, after: unknown): string {
  const document = parseDocument(source, YAML_OPTIONS);
  const restore = keepScalars(document, source);
  for (const operation of diffJson(before, after)) applyOperation(document, operation);
  const flowCollectionPadding = /^[[{]\s/.test(source);
  const changed = document.toString({ lineWidth: 0, minContentWidth: 0, flowCollectionPadding });
  return restore(changed).trimEnd();
}

/**
 * Replaces each number, boolean and null by a word, because the library would write another text: 9007199254740993 without its last
 * digit, 01067 without the zero.
 * @returns puts what was written in the place of the words
 */
export function keepScalars(document: Document, text: string): (patched: string) => string {
  let word = "kept";
  while (text.includes(word)) word += "t";
  const sources: string[] = [];
  visit(document, {
    Scalar(key, scalar) {
      const { source, type, value } = scalar;
      if (type !== Scalar.PLAIN || typeof value === "string" || typeof value === "symbol" || !source) return;
      // A key is its text, by which paths name it.
      scalar.value = key === "key" ? source : `${word}${sources.push(source) - 1}x`;
    },
  });
  const written = new RegExp(`"?${word}(\\d+)x"?`, "g");
  return (patched) => patched.replaceAll(written, (_, index: string) => sources[Number(index)]!);
}

export function applyOperation(document: Document, { op, path, from, value }: JsonPatchOperation): void {
  const target = partsOf(path);
  switch (op) {
    case "add":
      insert(document, target, nodeOf(document, value));
      return;
    case "replace":
      assertExists(document, target);
      document.setIn(locate(document, target), typeof value === "object" ? nodeOf(document, value) : value);
      styleTexts(document.getIn(locate(document, target), true) as Node);
      return;
    case "remove":
      assertExists(document, target);
      document.deleteIn(locate(document, target));
      return;
    case "move":
      move(document, partsOf(from ?? ""), target);
  }
}

/** Splits a JSON Pointer (RFC 6901). */
const partsOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

/** Converts the parts of a pointer to keys of objects and indexes of lists. */
function locate(document: Document, parts: readonly string[]): (string | number)[] {
  const path: (string | number)[] = [];
  for (const part of parts) {
    const parent = path.length === 0 ? document.contents : document.getIn(path, true);
    path.push(isSeq(parent) ? (part === "-" ? parent.items.length : Number(part)) : part);
  }
  return path;
}

function assertExists(document: Document, parts: readonly string[]): void {
  if (!document.hasIn(locate(document, parts))) throw new Error(`/${parts.join("/")} does not exist`);
}

function insert(document: Document, parts: readonly string[], node: unknown): void {
  const path = locate(document, parts);
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (isSeq(parent)) parent.items.splice(Number(path.at(-1)), 0, node);
  else if (isMap(parent)) parent.set(path.at(-1), node);
  else throw new Error(`/${parts.join("/")} does not exist`);
}

function move(document: Document, from: readonly string[], to: readonly string[]): void {
  assertExists(document, from);
  const source = locate(document, from);
  const parent = source.length === 1 ? document.contents : document.getIn(source.slice(0, -1), true);
  const isRenamed = isMap(parent) && from.slice(0, -1).join("/") === to.slice(0, -1).join("/");
  const pair = isRenamed
    ? parent.items.find(({ key }) => isScalar(key) && key.value === from.at(-1))
    : undefined;
  if (pair !== undefined && isScalar(pair.key)) {
    pair.key.value = to.at(-1);
    return;
  }
  const node: unknown = document.getIn(source, true);
  document.deleteIn(source);
  insert(document, to, node);
}

function nodeOf(document: Document, value: unknown): Node {
  const node = document.createNode(value);
  styleTexts(node);
  return node;
}
