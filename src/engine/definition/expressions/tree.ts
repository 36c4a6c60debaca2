/** An expression whose names, functions and loops are resolved, as the checker and the compiler read it. */
import type { BinaryOperator, SyntaxNode } from "./cel-parser.ts";
import type { CelFunction, FunctionBody } from "./functions.ts";
import type { LoopName } from "./loops.ts";

export type Expr = { at: SyntaxNode } & (
  | { kind: "literal"; value: string | number | boolean | null }
  /** `inputs`, `run`, `state`, `item`, `index`, `loop`, `result`, `event`, or a name that does not exist. */
  | { kind: "name"; name: string }
  | { kind: "step"; id: string }
  /** A loop variable. */
  | { kind: "local"; slot: number }
  | { kind: "field"; of: Expr; name: string }
  | { kind: "index"; of: Expr; key: Expr }
  | { kind: "list"; items: Expr[] }
  | { kind: "map"; entries: [Expr, Expr][] }
  | { kind: "logic"; op: "&&" | "||"; left: Expr; right: Expr }
  /** `left ?? right`: an absent field or item counts as null in `left`. */
  | { kind: "default"; left: Expr; right: Expr }
  | { kind: "not"; of: Expr }
  | { kind: "negate"; of: Expr }
  | { kind: "choice"; condition: Expr; yes: Expr; no: Expr }
  | { kind: "binary"; op: BinaryOperator; left: Expr; right: Expr }
  | { kind: "call"; name: string; fn: CelFunction; args: Expr[]; body: FunctionBody }
  /** `over.name(variable, body)`; `extra` is the optional argument of `map` and `sort_by`. */
  | { kind: "loop"; name: LoopName; over: Expr; slot: number; body: Expr; extra?: Expr }
  /** `has(of.name)`. */
  | { kind: "has"; of: Expr; key: Expr }
  /** An issue was reported for it. Its parts are checked nevertheless. */
  | { kind: "invalid"; parts?: Expr[] }
);
