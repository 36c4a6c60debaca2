/** Resolves a parsed expression: which names are variables, which calls are loops, which functions exist. */
import type { SyntaxNode } from "./cel-parser.ts";
import { nearMatch } from "../../../core/near-match.ts";
import { issueAt, formatNode } from "./failures.ts";
import { FUNCTIONS, FUNCTION_SYNONYMS } from "./functions.ts";
import type { CelFunction } from "./functions.ts";
import { isLoop, LOOPS, hasOptionalArgument } from "./loops.ts";
import type { LoopName } from "./loops.ts";
import type { Expr } from "./tree.ts";
import type { ExpressionIssue } from "./types.ts";

type Tell = (issue: ExpressionIssue) => void;

interface Resolution {
  steps: Set<string>;
  tell: Tell;
}

/** The loops' variables in sight, outermost first: their position is their slot. */
type Locals = readonly string[];

/**
 * @param steps gets the ids of the steps that it reads
 * @param tell gets the faults
 */
export function resolve(ast: SyntaxNode, steps: Set<string>, tell: Tell): Expr {
  return walk(ast, [], { steps, tell });
}

function walk(at: SyntaxNode, locals: Locals, all: Resolution): Expr {
  const go = (node: SyntaxNode): Expr => walk(node, locals, all);
  switch (at.op) {
    case "value":
      return literal(at, at.args, all);
    case "id":
      return name(at, at.args, locals, all);
    case ".":
      return field(at, at.args[0], at.args[1], locals, all);
    case "[]": {
      const [of, key] = at.args;
      if (key.op === "value" && typeof key.args === "string") return field(at, of, key.args, locals, all);
      return { kind: "index", at, of: go(of), key: go(key) };
    }
    case "list":
      return { kind: "list", at, items: at.args.map(go) };
    case "map":
      return { kind: "map", at, entries: at.args.map(([key, value]) => [go(key), go(value)]) };
    case "&&":
    case "||":
      return { kind: "logic", at, op: at.op, left: go(at.args[0]), right: go(at.args[1]) };
    case "!_":
      return { kind: "not", at, of: go(at.args) };
    case "-_":
      return { kind: "negate", at, of: go(at.args) };
    case "?:":
      return {
        kind: "choice",
        at,
        condition: go(at.args[0]),
        yes: go(at.args[1]),
        no: go(at.args[2]),
      };
    case "call":
      return call(at, at.args[0], at.args[1], locals, all);
    case "rcall":
      // x.f(y) and f(x, y) are the same.
      return call(at, at.args[0], [at.args[1], ...at.args[2]], locals, all);
    default:
      return { kind: "binary", at, op: at.op, left: go(at.args[0]), right: go(at.args[1]) };
  }
}

function literal(at: SyntaxNode, value: unknown, { tell }: Resolution): Expr {
  if (value === null || typeof value === "string" || typeof value === "boolean") {
    return { kind: "literal", at, value };
  }
  if (value instanceof Uint8Array) {
    tell(
      issueAt("expression_syntax", at, "holds bytes", {
        fix: "JSON has no bytes: write a text, without the b.",
      }),
    );
    return { kind: "invalid", at };
  }
  // Whole numbers are BigInt, or an object of cel-js's own for 1u.
  const number = typeof value === "number" ? value : Number((value as { toString(): string }).toString());
  if (typeof value === "number" || Number.isSafeInteger(number))
    return { kind: "literal", at, value: number };
  const message = `holds ${formatNode(at)}, which is larger than a JSON number can be exactly`;
  tell(issueAt("expression_syntax", at, message, { fix: "Write it as text, or with a decimal point." }));
  return { kind: "invalid", at };
}

function name(at: SyntaxNode, id: string, locals: Locals, { tell }: Resolution): Expr {
  const slot = locals.lastIndexOf(id);
  if (slot >= 0) return { kind: "local", at, slot };
  if (id !== "steps") return { kind: "name", at, name: id };
  tell(
    issueAt("unknown_step", at, "uses `steps` without the id of a step", {
      fix: "Write the id out: steps.<id>. What is read must be known before the workflow runs.",
    }),
  );
  return { kind: "invalid", at };
}

function field(at: SyntaxNode, of: SyntaxNode, key: string, locals: Locals, all: Resolution): Expr {
  if (of.op === "id" && of.args === "steps" && !locals.includes("steps")) {
    all.steps.add(key);
    return { kind: "step", at, id: key };
  }
  return { kind: "field", at, of: walk(of, locals, all), name: key };
}

function call(
  at: SyntaxNode,
  called: string,
  args: readonly SyntaxNode[],
  locals: Locals,
  all: Resolution,
): Expr {
  if (called === "has") return has(at, args, locals, all);
  if (isLoop(called)) return loop(at, called, args, locals, all);
  const resolved = args.map((arg) => walk(arg, locals, all));
  const fn = Object.hasOwn(FUNCTIONS, called) ? FUNCTIONS[called] : undefined;
  if (fn === undefined) {
    const allowed = [...Object.keys(FUNCTIONS), ...Object.keys(LOOPS), "has"].toSorted();
    const near = Object.hasOwn(FUNCTION_SYNONYMS, called)
      ? FUNCTION_SYNONYMS[called]
      : nearMatch(called, allowed);
    all.tell(
      issueAt("unknown_function", at, `calls ${called}, which is no function`, {
        allowed,
        ...(near !== undefined && { did_you_mean: near, fix: `Write ${near}.` }),
      }),
    );
    return { kind: "invalid", at };
  }
  if (!takes(fn, args.length)) {
    const message = `calls ${called} with ${args.length} argument${args.length === 1 ? "" : "s"}`;
    all.tell(issueAt("wrong_type", at, message, { fix: `Write ${fn.usage}.` }));
    return { kind: "invalid", at };
  }
  // What is written out is looked at once: a regular expression, the pattern of a date.
  const prepared = fn.prepare?.(resolved.map((arg) => (arg.kind === "literal" ? arg.value : undefined)));
  if (typeof prepared === "object") {
    all.tell(issueAt(prepared.code, at, prepared.message));
    return { kind: "invalid", at };
  }
  return { kind: "call", at, name: called, fn, args: resolved, body: prepared ?? fn.call };
}

function takes({ params, optional = 0, variadic = false }: CelFunction, count: number): boolean {
  return count >= params.length - optional && (variadic || count <= params.length);
}

function has(at: SyntaxNode, args: readonly SyntaxNode[], locals: Locals, all: Resolution): Expr {
  const [of] = args;
  if (args.length === 1 && of !== undefined) {
    const inner = walk(of, locals, all);
    if (inner.kind === "field") {
      return { kind: "has", at, of: inner.of, key: { kind: "literal", at: of, value: inner.name } };
    }
    if (inner.kind === "index") return { kind: "has", at, of: inner.of, key: inner.key };
    if (inner.kind === "invalid") return inner;
  }
  all.tell(
    issueAt("expression_syntax", at, "uses has() with something that is no field", {
      fix: 'Name a field: has(inputs.name) or has(inputs["name"]).',
    }),
  );
  return { kind: "invalid", at };
}

function loop(
  at: SyntaxNode,
  called: LoopName,
  args: readonly SyntaxNode[],
  locals: Locals,
  all: Resolution,
): Expr {
  const [over, variable, ...rest] = args;
  const counts = hasOptionalArgument(called) ? [1, 2] : [1];
  if (over === undefined || variable?.op !== "id" || !counts.includes(rest.length)) {
    all.tell(
      issueAt("expression_syntax", at, `uses ${called} otherwise than it is meant`, {
        fix: `Write ${LOOPS[called]}.`,
      }),
    );
    return { kind: "invalid", at };
  }
  const inside = [...locals, variable.args];
  const within = (node: SyntaxNode): Expr => walk(node, inside, all);
  // map's condition comes before its value; sort_by's direction after its key.
  const [body, extra] = called === "map" && rest.length === 2 ? [rest[1]!, rest[0]] : [rest[0]!, rest[1]];
  return {
    kind: "loop",
    at,
    name: called,
    over: walk(over, locals, all),
    slot: locals.length,
    body: within(body),
    ...(extra !== undefined && { extra: called === "map" ? within(extra) : walk(extra, locals, all) }),
  };
}
