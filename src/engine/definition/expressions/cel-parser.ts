/**
 * Parses CEL. This is the only file that uses the parser's package: another parser that returns these nodes and errors
 * can replace it.
 */
import { type ASTNode, Environment, ParseError, serialize } from "@marcbachmann/cel-js";
import { MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_LENGTH } from "./limits.ts";

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
}

/** A node of the syntax tree: its operator, its operands, and its place in the source. */
export type SyntaxNode =
  /** Text, a boolean, null, a double as number, an integer as bigint or as an object with toString, or bytes. */
  | Node<"value", unknown>
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
  | Node<"&&" | "||" | "[]" | BinaryOperator, [SyntaxNode, SyntaxNode]>;

/** Why a source does not parse. */
export interface SyntaxFailure {
  kind: "too_deep" | "unexpected" | "expected" | "other";
  /** Offsets of the source text that does not parse, in UTF-16 units. */
  start: number;
  end: number;
  /** With `expected`: the name of the missing token. */
  token?: string;
  /** The parser's own message. */
  summary: string;
}

// The package's evaluator is not used: its numbers are ints or doubles, while JSON has one kind (5 / 2 is 2.5).
const CEL = new Environment({
  limits: {
    maxDepth: MAX_EXPRESSION_DEPTH,
    maxAstNodes: MAX_EXPRESSION_LENGTH * 2,
    maxListElements: MAX_EXPRESSION_LENGTH,
    maxMapEntries: MAX_EXPRESSION_LENGTH,
    maxCallArguments: 100,
  },
});

export function parseSyntax(source: string): { root: SyntaxNode } | { failure: SyntaxFailure } {
  try {
    const { ast } = CEL.parse(source) as unknown as { ast: SyntaxNode };
    return { root: ast };
  } catch (error) {
    // The parser recurses once for each of `----1` without counting it.
    if (error instanceof RangeError)
      return { failure: { kind: "too_deep", start: 0, end: 0, summary: error.message } };
    if (!(error instanceof ParseError)) throw error;
    return { failure: failureOf(error) };
  }
}

function failureOf({ code, summary, range = { start: 0, end: 0 } }: ParseError): SyntaxFailure {
  const { start, end } = range;
  switch (code) {
    case "unexpected_character":
    case "unexpected_token":
      return { kind: "unexpected", start, end, summary };
    case "expected_token": {
      const name = /^Expected (\w+)/.exec(summary)?.[1] ?? "";
      return { kind: "expected", start, end, token: TOKENS[name] ?? name.toLowerCase(), summary };
    }
    default:
      return {
        kind: code === "limit_exceeded" && summary.includes("maxDepth") ? "too_deep" : "other",
        start,
        end,
        summary,
      };
  }
}

const TOKENS: Readonly<Record<string, string>> = {
  COLON: ":",
  IDENTIFIER: "a name",
  RBRACE: "}",
  RBRACKET: "]",
  RPAREN: ")",
};

/** Writes a node as CEL. */
export const writeSyntax = (node: SyntaxNode): string => serialize(node as ASTNode);

/** The nodes directly below one, whatever its operator. */
export function operandsOf(node: SyntaxNode): SyntaxNode[] {
  const args: unknown = node.args;
  if (!Array.isArray(args)) return isNode(args) ? [args] : [];
  return args.flat(2).filter(isNode);
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "op" in value && "args" in value;
