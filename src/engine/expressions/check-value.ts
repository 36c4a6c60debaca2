/** Checks expressions and values with templates against what is known of their scope. */
import { ANY, shapeOfConstant } from "../../core/shapes.ts";
import { MAX_EXPRESSION_FAULTS } from "./bounds.ts";
import { allowance, check } from "./check.ts";
import { bareSource, parseCel } from "./parse.ts";
import type { Parsed } from "./parse.ts";
import type { Checked, ExpressionFault, TypeScope } from "./types.ts";
import { joinAll, shapeOf } from "./typing.ts";
import type { Joins, Type } from "./typing.ts";
import { parsing } from "./value-tree.ts";
import type { Pieces, ValueTree } from "./value-tree.ts";

/** @param source one bare expression, or one whole `${{ }}` */
export function checkSource(source: string, scope: TypeScope): Checked {
  const bare = bareSource(source);
  const parsed = typeof bare === "string" ? parseCel(bare) : bare;
  if ("faults" in parsed) return { shape: ANY, faults: parsed.faults };
  const faults: ExpressionFault[] = [];
  return { shape: shapeOf(check(parsed.expr, scope, faults, allowance())), faults };
}

/** @param value any JSON; each string in it is a template */
export function* checkTemplates(value: unknown, scope: TypeScope): Pieces<Checked> {
  const { tree, faults } = yield* parsing(value);
  const left = allowance();
  const checkOne = (parsed: Parsed, path: readonly PropertyKey[]): Type => {
    const found: ExpressionFault[] = [];
    const type = check(parsed.expr, scope, found, left);
    for (const fault of found)
      if (faults.length < MAX_EXPRESSION_FAULTS) faults.push({ ...fault, path: [...path] });
    return type;
  };
  return { shape: shapeOf(yield* treeType(tree, checkOne, left.joins)), faults };
}

type CheckOne = (parsed: Parsed, path: readonly PropertyKey[]) => Type;

function* treeType(tree: ValueTree, checkOne: CheckOne, joins: Joins): Pieces<Type> {
  switch (tree.kind) {
    case "constant":
      return typeOfConstant(tree.value, joins);
    case "expression":
      yield;
      return checkOne(tree.parsed, tree.path);
    case "text":
      for (const part of tree.parts) {
        if (typeof part === "string") continue;
        yield;
        checkOne(part, tree.path);
      }
      return { kind: "string" };
    case "list": {
      const types: Type[] = [];
      for (const item of tree.items) types.push(yield* treeType(item, checkOne, joins));
      return { kind: "list", of: joinAll(types, joins) };
    }
    default: {
      const fields: [string, Type][] = [];
      for (const [name, of] of tree.fields) fields.push([name, yield* treeType(of, checkOne, joins)]);
      return { kind: "object", fields: Object.fromEntries(fields) };
    }
  }
}

/** Its depth is bounded: it was parsed. */
function typeOfConstant(value: unknown, joins: Joins): Type {
  if (typeof value !== "object" || value === null) return shapeOfConstant(value);
  const typeOf = (inner: unknown): Type => typeOfConstant(inner, joins);
  if (Array.isArray(value)) return { kind: "list", of: joinAll(value.map(typeOf), joins) };
  return {
    kind: "object",
    fields: Object.fromEntries(Object.entries(value).map(([name, of]) => [name, typeOf(of)])),
  };
}
