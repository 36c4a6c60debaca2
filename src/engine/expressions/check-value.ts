/** Checks expressions and values with templates against what is known of their scope. */
import { ANY } from "../../core/shapes.ts";
import { MAX_EXPRESSION_FAULTS } from "./bounds.ts";
import { check, constantType } from "./check.ts";
import { bareSource, parseCel } from "./parse.ts";
import type { Parsed } from "./parse.ts";
import type { Checked, ExpressionFault, TypeScope } from "./types.ts";
import { joinAll, shapeOf } from "./typing.ts";
import type { Type } from "./typing.ts";
import { parseValue } from "./value-tree.ts";
import type { ValueTree } from "./value-tree.ts";

/** @param source one bare expression, or one whole `${{ }}` */
export function checkSource(source: string, scope: TypeScope): Checked {
  const bare = bareSource(source);
  const parsed = typeof bare === "string" ? parseCel(bare) : bare;
  if ("faults" in parsed) return { shape: ANY, faults: parsed.faults };
  const faults: ExpressionFault[] = [];
  return { shape: shapeOf(check(parsed.expr, scope, faults)), faults };
}

/** @param value any JSON; each string in it is a template */
export function checkTemplates(value: unknown, scope: TypeScope): Checked {
  const { tree, faults } = parseValue(value);
  const checkOne = (parsed: Parsed, path: readonly PropertyKey[]): Type => {
    const found: ExpressionFault[] = [];
    const type = check(parsed.expr, scope, found);
    for (const fault of found)
      if (faults.length < MAX_EXPRESSION_FAULTS) faults.push({ ...fault, path: [...path] });
    return type;
  };
  return { shape: shapeOf(treeType(tree, checkOne)), faults };
}

function treeType(tree: ValueTree, checkOne: (parsed: Parsed, path: readonly PropertyKey[]) => Type): Type {
  const typeOf = (below: ValueTree): Type => treeType(below, checkOne);
  switch (tree.kind) {
    case "constant":
      return typeOfConstant(tree.value);
    case "expression":
      return checkOne(tree.parsed, tree.path);
    case "text":
      for (const part of tree.parts) if (typeof part !== "string") checkOne(part, tree.path);
      return { kind: "string" };
    case "list":
      return { kind: "list", of: joinAll(tree.items.map(typeOf)) };
    default:
      return {
        kind: "object",
        fields: Object.fromEntries(tree.fields.map(([name, of]) => [name, typeOf(of)])),
      };
  }
}

/** Its depth is bounded: it was parsed. */
function typeOfConstant(value: unknown): Type {
  if (typeof value !== "object" || value === null) return constantType(value);
  if (Array.isArray(value)) return { kind: "list", of: joinAll(value.map(typeOfConstant)) };
  return {
    kind: "object",
    fields: Object.fromEntries(Object.entries(value).map(([name, of]) => [name, typeOfConstant(of)])),
  };
}
