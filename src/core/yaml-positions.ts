/** Positions of values in a YAML text. */
import { type Document, isMap, isScalar, type Node } from "yaml";
import type { TextPlace } from "./connections.ts";
import { offsetsOf } from "./offsets-of.ts";

/**
 * Finds a path of the parsed value in the YAML text: its key if it has one, else the nearest node around it.
 * @returns the offset from the beginning, in UTF-16 code units
 */
export function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(last));
      if (pair) return (pair.key as Node).range?.[0] ?? 0;
    } else {
      const node = document.getIn(path.slice(0, length), true) as Node | undefined;
      if (node?.range) return node.range[0];
    }
  }
  return document.contents?.range?.[0] ?? 0;
}

/** A word, or one other character that is no white space. */
const WORD = /[\p{L}\p{N}_]+|\S/uy;

/**
 * Finds a place in a text of the definition, of any form that YAML has for texts: the word there is counted in the value, and found again
 * in what is written.
 * @returns the offset from the beginning, in UTF-16 code units; undefined if what is written differs too much, as with escapes
 */
export function offsetOfPlace(
  { document, text }: { document: Document; text: string },
  path: readonly PropertyKey[],
  { source, offset }: TextPlace,
): number | undefined {
  const node: unknown = document.getIn(path, true);
  if (!isScalar(node) || typeof node.value !== "string" || !node.range) return undefined;
  const from = node.value.indexOf(source);
  if (from < 0) return undefined;
  WORD.lastIndex = from + offset;
  const word = WORD.exec(node.value)?.[0];
  if (word === undefined) return undefined;
  const [start, end] = node.range;
  const written = offsetsOf(word, text.slice(start, end));
  const inValue = offsetsOf(word, node.value);
  if (written.length !== inValue.length) return undefined;
  const index = inValue.indexOf(from + offset);
  return index < 0 ? undefined : start + written[index]!;
}
