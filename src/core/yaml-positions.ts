import { type Document, isMap, isScalar, type Node } from "yaml";

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
