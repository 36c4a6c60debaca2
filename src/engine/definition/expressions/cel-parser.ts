/** Parses CEL, extended by `x ?? y`, to a syntax tree. */
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { fail, readToken, SyntaxProblem, type SyntaxFailure, type Token } from "./tokens.ts";

export type { SyntaxFailure } from "./tokens.ts";

/** A place in an expression. */
export interface SourceLocation {
  /** The whole source. */
  readonly input: string;
  /** Offset in the source, from 0, in UTF-16 units. */
  readonly pos: number;
}

export type BinaryOperator = "!=" | "==" | "in" | "+" | "-" | "*" | "/" | "%" | "<" | "<=" | ">" | ">=";

interface Node<Operator extends string, Operands> extends SourceLocation {
  readonly op: Operator;
  readonly args: Operands;
  /** Where its source begins and ends, without parentheses around it. */
  readonly start: number;
  readonly end: number;
  /** The same with the parentheses around it; the same numbers if there are none. */
  outerStart: number;
  outerEnd: number;
}

/** A node of the syntax tree: its operator, its operands, and its place in the source. */
export type SyntaxNode =
  /** Text, a boolean, null, a double as number, an integer as bigint, or bytes. */
  | Node<"value", string | boolean | null | number | bigint | Uint8Array>
  | Node<"id", string>
  | Node<".", [SyntaxNode, string]>
  /** `name(arguments)` */
  | Node<"call", [string, SyntaxNode[]]>
  /** `receiver.name(arguments)` */
  | Node<"rcall", [string, SyntaxNode, SyntaxNode[]]>
  | Node<"list", SyntaxNode[]>
  | Node<"map", [SyntaxNode, SyntaxNode][]>
  | Node<"?:", [SyntaxNode, SyntaxNode, SyntaxNode]>
  | Node<"!_" | "-_", SyntaxNode>
  | Node<"??" | "&&" | "||" | "[]" | BinaryOperator, [SyntaxNode, SyntaxNode]>;

export function parseSyntax(source: string): { root: SyntaxNode } | { failure: SyntaxFailure } {
  try {
    return { root: parseWhole(source) };
  } catch (error) {
    if (error instanceof SyntaxProblem) return { failure: error.failure };
    throw error;
  }
}

/** Whether a node has parentheses around it. */
export const isParenthesized = ({ start, outerStart }: SyntaxNode): boolean => outerStart !== start;

/** Writes a node as CEL, in one line. */
export const writeSyntax = ({ input, start, end }: SyntaxNode): string =>
  input.slice(start, end).replaceAll(/\s*\n\s*/g, " ");

/** The nodes directly below one, whatever its operator. */
export function operandsOf(node: SyntaxNode): SyntaxNode[] {
  const args: unknown = node.args;
  if (!Array.isArray(args)) return isNode(args) ? [args] : [];
  return args.flat(2).filter(isNode);
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "op" in value && "args" in value;

/** The binary operators, by precedence: those of each line bind more tightly than those above. All associate to the left. */
const PRECEDENCE: readonly (readonly string[])[] = [
  ["??"],
  ["||"],
  ["&&"],
  ["==", "!="],
  ["<", "<=", ">", ">=", "in"],
  ["+", "-"],
  ["*", "/", "%"],
];
const LEVELS: ReadonlyMap<string, number> = new Map(
  PRECEDENCE.flatMap((operators, level) => operators.map((operator) => [operator, level] as const)),
);

const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** @throws SyntaxProblem */
function parseWhole(input: string): SyntaxNode {
  let token: Token = readToken(input, 0);
  let depth = 0;

  const advance = (): Token => {
    const current = token;
    token = readToken(input, token.end);
    return current;
  };
  /** The text of the current token, if it is an operator or a word. */
  const symbol = (): string | undefined =>
    token.kind === "operator" || token.kind === "word" ? token.text : undefined;
  const unexpected = (): never => fail("unexpected", token.start, token.end, "Unexpected token");
  const consume = (operator: string): Token =>
    symbol() === operator
      ? advance()
      : fail("expected", token.start, token.end, `Expected ${operator}`, operator);
  const accept = (operator: string): boolean => symbol() === operator && advance() !== undefined;

  /** Runs a parser one level deeper, so that deep nesting ends with an issue and not with the stack. */
  function nested<T>(parse: () => T): T {
    depth += 1;
    if (depth > MAX_EXPRESSION_DEPTH)
      fail("too_deep", token.start, token.end, "The expression is nested too deeply");
    const result = parse();
    depth -= 1;
    return result;
  }

  function node<N extends SyntaxNode>(
    op: N["op"],
    args: N["args"],
    start: number,
    end: number,
    pos = start,
  ): SyntaxNode {
    return { op, args, input, pos, start, end, outerStart: start, outerEnd: end } as unknown as SyntaxNode;
  }

  function parseExpression(): SyntaxNode {
    return nested(() => {
      const condition = parseBinary(0);
      if (!accept("?")) return condition;
      const yes = parseExpression();
      consume(":");
      const no = parseExpression();
      return node("?:", [condition, yes, no], condition.outerStart, no.outerEnd);
    });
  }

  function parseBinary(level: number): SyntaxNode {
    let left = parseUnary();
    for (;;) {
      const operator = symbol();
      const own = operator === undefined ? undefined : LEVELS.get(operator);
      if (own === undefined || own < level) return left;
      advance();
      const right = parseBinary(own + 1);
      left = node(operator as BinaryOperator, [left, right], left.outerStart, right.outerEnd);
    }
  }

  function parseUnary(): SyntaxNode {
    if (symbol() !== "!" && symbol() !== "-") return parsePostfix();
    const sign = advance();
    const of = nested(parseUnary);
    return node(input[sign.start] === "!" ? "!_" : "-_", of, sign.start, of.outerEnd);
  }

  function parsePostfix(): SyntaxNode {
    let of = parsePrimary();
    for (;;) {
      if (accept(".")) {
        of = parseMember(of);
      } else if (accept("[")) {
        const key = parseExpression();
        const { end } = consume("]");
        of = node("[]", [of, key], of.outerStart, end);
      } else {
        return of;
      }
    }
  }

  function parseMember(of: SyntaxNode): SyntaxNode {
    // After a dot every word is a name, also `in`.
    if (token.kind !== "word" && token.kind !== "quoted_name")
      return fail("expected", token.start, token.end, "Expected a name", "a name");
    const { text: name, start, end, kind } = token;
    advance();
    if (kind === "quoted_name" || !accept("(")) return node(".", [of, name], of.outerStart, end, start);
    const { items, end: closed } = parseItems(")");
    return node("rcall", [name, of, items], of.outerStart, closed);
  }

  function parsePrimary(): SyntaxNode {
    const { start, end } = token;
    if (token.kind === "literal") {
      const { value } = token;
      advance();
      return node("value", value, start, end);
    }
    if (token.kind === "long_decimal") {
      const text = node("value", token.text, start, end);
      advance();
      return node("call", ["double", [text]], start, end);
    }
    if (token.kind === "word" && token.text !== "in") return parseWord(token.text, start, end);
    if (accept("(")) {
      const inner = parseExpression();
      inner.outerEnd = consume(")").end;
      inner.outerStart = start;
      return inner;
    }
    if (accept("[")) {
      const { items, end: closed } = parseItems("]");
      return node("list", items, start, closed);
    }
    if (accept("{")) {
      const { entries, end: closed } = parseEntries();
      return node("map", entries, start, closed);
    }
    return unexpected();
  }

  function parseWord(word: string, start: number, end: number): SyntaxNode {
    advance();
    const constant = CONSTANTS.get(word);
    if (constant !== undefined) return node("value", constant, start, end);
    if (!accept("(")) return node("id", word, start, end);
    const { items, end: closed } = parseItems(")");
    return node("call", [word, items], start, closed);
  }

  /** Parses expressions up to a closing bracket. A comma may follow the last one. */
  function parseItems(close: string): { items: SyntaxNode[]; end: number } {
    const items: SyntaxNode[] = [];
    while (symbol() !== close) {
      items.push(parseExpression());
      if (!accept(",")) break;
    }
    return { items, end: consume(close).end };
  }

  function parseEntries(): { entries: [SyntaxNode, SyntaxNode][]; end: number } {
    const entries: [SyntaxNode, SyntaxNode][] = [];
    while (symbol() !== "}") {
      const key = parseExpression();
      consume(":");
      entries.push([key, parseExpression()]);
      if (!accept(",")) break;
    }
    return { entries, end: consume("}").end };
  }

  const root = parseExpression();
  return token.kind === "end" ? root : unexpected();
}
