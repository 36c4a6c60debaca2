/** Finds what YAML text says and its parsed value would lose or could not hold, and merge keys (`<<`) without a meaning. */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  visit,
  type YAMLMap,
} from "yaml";
import type { JsonLoss } from "../../../core/json-scan.ts";
import { describeLoss } from "../../../core/json-text.ts";
import { readYamlNumber } from "../../../../schemas/yaml-numbers.ts";

/** Maximum number of reported issues. */
const MAX_ISSUES = 100;
/** Maximum number of nodes that merge keys copy together. */
const MAX_MERGED_NODES = 50_000;

export interface YamlValueIssue {
  path: PropertyKey[];
  code: string;
  message: string;
  fix?: string;
  /** Offset in the text, in UTF-16 code units. */
  offset: number;
}

type Ancestors = readonly unknown[];

/** @param document parsed without errors, with duplicate keys allowed, and read by `readScalars` */
export function yamlValueIssues(document: Document): YamlValueIssue[] {
  const issues: YamlValueIssue[] = [];
  const anchors = new Map<string, Node>();
  const merges = mergeCounter();
  const report = (node: unknown, ancestors: Ancestors, loss: Pick<JsonLoss, "kind" | "text">): void =>
    void issues.push({ path: pathOf([...ancestors, node]), ...describeLoss(loss), offset: offsetOf(node) });

  visit(document, {
    Node(key, node, ancestors) {
      if (issues.length >= MAX_ISSUES) return visit.BREAK;
      if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
      const kind = isScalar(node) && key !== "key" ? lossOf(node) : undefined;
      if (kind !== undefined) {
        const { source, value } = node as Scalar;
        report(node, ancestors, { kind, text: source ?? String(value) });
      }
      return undefined;
    },
    Map(_, map, ancestors) {
      if (!isAlias(map) && map.anchor !== undefined) anchors.set(map.anchor, map);
      const names = new Set<string>();
      for (const pair of map.items) {
        const name = nameOf(pair);
        if (name === undefined) continue;
        if (names.has(name))
          issues.push({
            path: [...pathOf([...ancestors, map]), name],
            ...describeLoss({ kind: "duplicate_key", text: name }),
            ...(name === "<<" && { fix: "Merge several with one key: <<: [*a, *b]." }),
            offset: offsetOf(pair.key),
          });
        names.add(name);
        if (isMerge(pair)) {
          const problem = merges.add(pair.value, anchors);
          if (problem !== undefined)
            issues.push({ path: pathOf([...ancestors, map]), ...problem, offset: offsetOf(pair.key) });
        }
      }
      return undefined;
    },
  });
  return issues;
}

/** What is lost of a scalar that `readScalars` has left a number: infinity, no number, or one with too many digits. */
function lossOf({ value, source = "" }: Scalar): "not_finite" | "too_expanded" | undefined {
  if (typeof value !== "number") return undefined;
  const number = readYamlNumber(source);
  return number === undefined ? "not_finite" : typeof number === "string" ? "too_expanded" : undefined;
}

const isMerge = ({ key }: Pair): boolean => isScalar(key) && typeof key.value === "symbol";

/** The key as it is in the value; undefined for a key that is an alias or a collection. */
const nameOf = (pair: Pair): string | undefined =>
  isMerge(pair) ? "<<" : isScalar(pair.key) ? String(pair.key.value) : undefined;

/** The path in the value. The keys of a merge belong to the object that contains it. */
export function pathOf(nodes: Ancestors): PropertyKey[] {
  return nodes.flatMap((node, index): PropertyKey[] => {
    if (isPair(node)) return isMerge(node) ? [] : [nameOf(node) ?? ""];
    if (!isSeq(node) || index === nodes.length - 1) return [];
    const before = nodes[index - 1];
    return isPair(before) && isMerge(before) ? [] : [node.items.indexOf(nodes[index + 1])];
  });
}

export const offsetOf = (node: unknown): number => (node as Node | null)?.range?.[0] ?? 0;

const NOT_A_MAP = {
  code: "invalid_yaml",
  message: "has a merge key (<<) whose value is no object",
  fix: "Write <<: *name, where &name marks an object before it.",
};
const TOO_LARGE = {
  code: "invalid_yaml",
  message: "has merge keys (<<) that copy too much",
  fix: "Write the fields out, or merge smaller objects.",
};

/** Counts what merge keys copy, because each copy may contain copies. */
function mergeCounter() {
  const sizes = new Map<unknown, number>();
  let merged = 0;

  function sizeOf(node: unknown): number {
    const known = sizes.get(node);
    if (known !== undefined) return known;
    let size = 1;
    if (isPair(node)) size += sizeOf(node.value);
    else if (isCollection(node)) for (const item of node.items) size += sizeOf(item);
    sizes.set(node, size);
    return size;
  }

  return {
    /** @returns what is wrong with the value of a merge key */
    add(value: unknown, anchors: ReadonlyMap<string, Node>) {
      const resolve = (node: unknown): unknown => (isAlias(node) ? anchors.get(node.source) : node);
      const source = resolve(value);
      const maps = isSeq(source) ? source.items.map(resolve) : [source];
      if (!maps.every((map): map is YAMLMap => isMap(map))) return NOT_A_MAP;
      const size = maps.reduce((sum, map) => sum + sizeOf(map), 0);
      // A map counts with everything that is merged into it where the map itself is merged.
      sizes.set(value, size);
      const wasTooLarge = merged > MAX_MERGED_NODES;
      merged += size;
      return !wasTooLarge && merged > MAX_MERGED_NODES ? TOO_LARGE : undefined;
    },
  };
}
