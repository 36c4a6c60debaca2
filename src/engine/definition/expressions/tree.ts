/** An expression as the checker and the compiler see it: cel-js's tree with names, functions and loops resolved. */
import type { BinaryOperator, SyntaxNode } from "./cel-parser.ts";
import type { CelFunction, FunctionBody } from "./functions.ts";
import type { LoopName } from "./loops.ts";

export type Expr = { at: SyntaxNode } & (
  | { kind: "literal"; value: string | number | boolean | null }
  /** `inputs`, `run`, `item`, `index`, or a name that does not exist. */
  | { kind: "name"; name: string }
  | { kind: "step"; id: string }
  /** A loop's variable. */
  | { kind: "local"; slot: number }
  | { kind: "field"; of: Expr; name: string }
  | { kind: "index"; of: Expr; key: Expr }
  | { kind: "list"; items: Expr[] }
  | { kind: "map"; entries: [Expr, Expr][] }
  | { kind: "logic"; op: "&&" | "||"; left: Expr; right: Expr }
  | { kind: "not"; of: Expr }
  | { kind: "negate"; of: Expr }
  | { kind: "choice"; condition: Expr; yes: Expr; no: Expr }
  | { kind: "binary"; op: BinaryOperator; left: Expr; right: Expr }
  | { kind: "call"; name: string; fn: CelFunction; args: Expr[]; body: FunctionBody }
  /** `over.name(variable, body)`, with what else the loop takes. */
  | { kind: "loop"; name: LoopName; over: Expr; slot: number; body: Expr; extra?: Expr }
  /** `has(of.name)`. */
  | { kind: "has"; of: Expr; key: Expr }
  /** A fault was told. */
  | { kind: "invalid" }
);
