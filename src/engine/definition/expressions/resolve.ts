/** Resolves the names of a parsed expression to variables, steps, loops and functions. */
import type { SyntaxNode } from "./cel-parser.ts";
import { issueAt } from "./failures.ts";
import { isForeignLoop, isNamespacedCall, suggestFunction } from "./function-rewrites.ts";
import { FUNCTIONS } from "./functions.ts";
import type { CelFunction } from "./functions.ts";
import { isLoop, LOOPS, hasOptionalArgument } from "./loops.ts";
import type { LoopName } from "./loops.ts";
import { kindOf } from "./values.ts";
import type { Expr } from "./tree.ts";
import type { ExpressionIssue } from "./types.ts";

type Report = (issue: ExpressionIssue) => void;

/** What an expression reads of its scope. */
export interface Reads {
  /** Ids of the steps. */
  stepIds: Set<string>;
  /** The other names: `inputs`, `item` and so on. */
  names: Set<string>;
}

interface Resolution extends Reads {
  report: Report;
}

/** The loop variables in scope, outermost first. The position of each is its slot. */
type Locals = readonly string[];

/**
 * @param reads receives what the expression reads
 * @param report receives each issue
 */
export function resolve(root: SyntaxNode, reads: Reads, report: Report): Expr {
  return walk(root, [], { ...reads, report });
}

function walk(at: SyntaxNode, locals: Locals, resolution: Resolution): Expr {
  const resolveNode = (node: SyntaxNode): Expr => walk(node, locals, resolution);
  switch (at.op) {
    case "value":
      return resolveLiteral(at, at.args, resolution);
    case "id":
      return resolveName(at, at.args, locals, resolution);
    case ".":
      return resolveField(at, at.args[0], at.args[1], locals, resolution);
    case "[]": {
      const [of, key] = at.args;
      if (key.op === "value" && typeof key.args === "string")
        return resolveField(at, of, key.args, locals, resolution);
      return { kind: "index", at, of: resolveNode(of), key: resolveNode(key) };
    }
    case "list":
      return { kind: "list", at, items: at.args.map(resolveNode) };
    case "map":
      return {
        kind: "map",
        at,
        entries: at.args.map(([key, value]) => [resolveNode(key), resolveNode(value)]),
      };
    case "&&":
    case "||":
      return { kind: "logic", at, op: at.op, left: resolveNode(at.args[0]), right: resolveNode(at.args[1]) };
    case "??":
      return { kind: "default", at, left: resolveNode(at.args[0]), right: resolveNode(at.args[1]) };
    case "!_":
      return { kind: "not", at, of: resolveNode(at.args) };
    case "-_":
      return { kind: "negate", at, of: resolveNode(at.args) };
    case "?:":
      return {
        kind: "choice",
        at,
        condition: resolveNode(at.args[0]),
        yes: resolveNode(at.args[1]),
        no: resolveNode(at.args[2]),
      };
    case "call":
      return resolveCall(at, at.args[0], at.args[1], locals, resolution);
    case "rcall":
      // x.f(y) and f(x, y) are the same.
      return resolveCall(at, at.args[0], [at.args[1], ...at.args[2]], locals, resolution);
    default:
      return { kind: "binary", at, op: at.op, left: resolveNode(at.args[0]), right: resolveNode(at.args[1]) };
  }
}

function resolveLiteral(
  at: SyntaxNode,
  value: Extract<SyntaxNode, { op: "value" }>["args"],
  { report }: Resolution,
): Expr {
  if (value === null || typeof value === "string" || typeof value === "boolean") {
    return { kind: "literal", at, value };
  }
  if (value instanceof Uint8Array) {
    report(
      issueAt("expression_syntax", at, "contains a bytes literal", {
        fix: "Write text, without the b: JSON has no bytes.",
      }),
    );
    return { kind: "invalid", at };
  }
  const number = Number(value);
  // An integer is a bigint, a double a number.
  if (typeof value === "number" || Number.isSafeInteger(number))
    return { kind: "literal", at, value: number };
  const args: Expr[] = [{ kind: "literal", at, value: String(value) }];
  return { kind: "call", at, name: "int", fn: FUNCTIONS["int"]!, args, body: FUNCTIONS["int"]!.call };
}

function resolveName(at: SyntaxNode, id: string, locals: Locals, { names, report }: Resolution): Expr {
  const slot = locals.lastIndexOf(id);
  if (slot >= 0) return { kind: "local", at, slot };
  if (id !== "steps") {
    names.add(id);
    return { kind: "name", at, name: id };
  }
  report(
    issueAt("unknown_step", at, "uses `steps` without a step id", {
      fix: "Write steps.<id> with a literal id: the steps that are read must be known before the workflow runs.",
    }),
  );
  return { kind: "invalid", at };
}

function resolveField(
  at: SyntaxNode,
  of: SyntaxNode,
  key: string,
  locals: Locals,
  resolution: Resolution,
): Expr {
  if (of.op === "id" && of.args === "steps" && !locals.includes("steps")) {
    resolution.stepIds.add(key);
    return { kind: "step", at, id: key };
  }
  return { kind: "field", at, of: walk(of, locals, resolution), name: key };
}

function resolveCall(
  at: SyntaxNode,
  called: string,
  args: readonly SyntaxNode[],
  locals: Locals,
  resolution: Resolution,
): Expr {
  if (called === "has") return resolveHas(at, args, locals, resolution);
  if (isLoop(called)) return resolveLoop(at, called, args, locals, resolution);
  const fn = Object.hasOwn(FUNCTIONS, called) ? FUNCTIONS[called] : undefined;
  if (fn === undefined || isNamespacedCall(at, args))
    return resolveUnknownCall(at, called, args, locals, resolution);
  const resolved = args.map((arg) => walk(arg, locals, resolution));
  if (!accepts(fn, args.length)) {
    const message = `calls ${called} with ${args.length} argument${args.length === 1 ? "" : "s"}, expected ${expectedCount(fn)}`;
    resolution.report(issueAt("wrong_type", at, message, { fix: `Write ${fn.usage}.` }));
    return { kind: "invalid", at, parts: resolved };
  }
  const literalIssues = resolved.flatMap((arg, index) => {
    const param = fn.params[index] ?? fn.params.at(-1)!;
    const literal = param.literalIssue === undefined ? undefined : literalValue(arg);
    if (literal === undefined || param.kinds?.includes(kindOf(literal)) !== true) return [];
    const found = param.literalIssue!(literal);
    return found === undefined ? [] : [{ at: arg.at, ...found }];
  });
  for (const { at: place, code, message, ...more } of literalIssues)
    resolution.report(issueAt(code, place, message, more));
  if (literalIssues.length > 0) return { kind: "invalid", at };
  // Literal arguments, such as a regular expression or a date pattern, are checked once.
  const prepared = fn.prepare?.(resolved.map((arg) => (arg.kind === "literal" ? arg.value : undefined)));
  if (typeof prepared === "object") {
    resolution.report(issueAt(prepared.code, at, prepared.message));
    return { kind: "invalid", at, parts: resolved };
  }
  return { kind: "call", at, name: called, fn, args: resolved, body: prepared ?? fn.call };
}

/** The value of a literal; of a map with literal keys, those values that are literals, else undefined in their place. */
function literalValue(expr: Expr): unknown {
  if (expr.kind === "literal") return expr.value;
  if (expr.kind !== "map" || !expr.entries.every(([key]) => key.kind === "literal")) return undefined;
  return Object.fromEntries(
    expr.entries.map(([key, value]) => [
      key.kind === "literal" ? String(key.value) : "",
      literalValue(value),
    ]),
  );
}

/** Reports a function that does not exist. Its arguments are still checked. */
function resolveUnknownCall(
  at: SyntaxNode,
  called: string,
  args: readonly SyntaxNode[],
  locals: Locals,
  resolution: Resolution,
): Expr {
  const allowed = [...Object.keys(FUNCTIONS), ...Object.keys(LOOPS), "has"].toSorted();
  resolution.report(
    issueAt("unknown_function", at, `calls ${called}, which is not a function`, {
      allowed,
      ...suggestFunction(at, called, args, allowed),
    }),
  );
  const [receiver, variable, ...rest] = isNamespacedCall(at, args) ? args.slice(1) : args;
  const isLoopCall = isForeignLoop(called) && variable?.op === "id" && rest.length > 0;
  const inside = isLoopCall ? [...locals, variable.args] : locals;
  const others = isLoopCall ? rest : [variable, ...rest];
  const parts = [
    ...(receiver === undefined ? [] : [walk(receiver, locals, resolution)]),
    ...others.flatMap((arg) => (arg === undefined ? [] : [walk(arg, inside, resolution)])),
  ];
  return { kind: "invalid", at, parts };
}

function accepts({ params, optional = 0, variadic = false }: CelFunction, count: number): boolean {
  return count >= params.length - optional && (variadic || count <= params.length);
}

function expectedCount({ params, optional = 0, variadic = false }: CelFunction): string {
  const required = params.length - optional;
  if (variadic) return `at least ${required}`;
  return optional === 0 ? String(required) : `${required} to ${params.length}`;
}

function resolveHas(
  at: SyntaxNode,
  args: readonly SyntaxNode[],
  locals: Locals,
  resolution: Resolution,
): Expr {
  const [of] = args;
  if (args.length === 1 && of !== undefined) {
    const inner = walk(of, locals, resolution);
    if (inner.kind === "field") {
      return { kind: "has", at, of: inner.of, key: { kind: "literal", at: of, value: inner.name } };
    }
    if (inner.kind === "index") return { kind: "has", at, of: inner.of, key: inner.key };
    if (inner.kind === "invalid") return inner;
  }
  resolution.report(
    issueAt("expression_syntax", at, "passes something other than a field to has()", {
      fix: 'Write has(inputs.name) or has(inputs["name"]).',
    }),
  );
  return { kind: "invalid", at };
}

function resolveLoop(
  at: SyntaxNode,
  called: LoopName,
  args: readonly SyntaxNode[],
  locals: Locals,
  resolution: Resolution,
): Expr {
  const [over, variable, ...rest] = args;
  const counts = hasOptionalArgument(called) ? [1, 2] : [1];
  if (over === undefined || variable?.op !== "id" || !counts.includes(rest.length)) {
    resolution.report(
      issueAt("expression_syntax", at, `calls ${called} with the wrong arguments`, {
        fix: `Write ${LOOPS[called]}.`,
      }),
    );
    return { kind: "invalid", at };
  }
  const inside = [...locals, variable.args];
  const walkInside = (node: SyntaxNode): Expr => walk(node, inside, resolution);
  // The condition of map comes before its value, the direction of sort_by after its key.
  const [body, extra] = called === "map" && rest.length === 2 ? [rest[1]!, rest[0]] : [rest[0]!, rest[1]];
  return {
    kind: "loop",
    at,
    name: called,
    over: walk(over, locals, resolution),
    slot: locals.length,
    body: walkInside(body),
    ...(extra !== undefined && {
      extra: called === "map" ? walkInside(extra) : walk(extra, locals, resolution),
    }),
  };
}
