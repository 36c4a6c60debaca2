/** The types of expressions that the rest of the engine uses. */
import type { Shape } from "../../../core/shapes.ts";
import type { Facts } from "./flow.ts";
import type { PartialIssue } from "../../../core/connections.ts";

/** The values that an expression can read. `steps` has at least the steps that it reads. */
export interface Scope {
  inputs: Readonly<Record<string, unknown>>;
  run: Readonly<Record<string, unknown>>;
  steps: Readonly<Record<string, unknown>>;
  /** The state of the workflow, when the run was admitted. Set if the definition declares one. */
  state?: Readonly<Record<string, unknown>>;
  /** Set in a fan-out only. */
  item?: unknown;
  index?: number;
  /** The variables of a `repeat`, with `index`. */
  loop?: Readonly<Record<string, unknown>>;
  /** The output of the step itself, in expressions that are evaluated after it. */
  result?: Readonly<Record<string, unknown>>;
  /** The output of the run, in the assertions of an example. */
  output?: unknown;
  /** What was received: in the expressions of a trigger, and in `match` of a step that waits for an event. */
  event?: Readonly<Record<string, unknown>>;
  /** The key that the interrupted attempt sent, in a lookup. */
  idempotency_key?: string;
}

/** The types of those values, as far as they are known before anything runs. */
export interface TypeScope {
  inputs: Shape;
  run: Shape;
  /** The steps that may be read: the ancestors of a step; for `output` all. */
  steps: Readonly<Record<string, Shape>>;
  /** Ids of steps that exist but may not be read, for the issue `not_an_ancestor`. */
  otherSteps: ReadonlySet<string>;
  /** Undefined if the definition declares none. */
  state?: Shape | undefined;
  item?: Shape;
  index?: Shape;
  loop?: Shape;
  result?: Shape;
  output?: Shape;
  event?: Shape;
  idempotency_key?: Shape;
  /** Id of the step whose output `result` is. */
  resultOf?: string;
  /** What is known of the values, because conditions that precede the expression are true. */
  facts?: Facts;
}

/** A compiled expression, template, or value with templates in it: compiled once, evaluated often. */
export interface CompiledExpression {
  /** Ids of the steps that it reads: only their outputs have to be loaded. */
  readonly stepIds: ReadonlySet<string>;
  /** The other names of the scope that it reads, such as `inputs`. */
  readonly names: ReadonlySet<string>;
  /** What it was compiled from, as text: `compileOrigin` compiles it again, in a thread. */
  readonly origin: string;
  /** Whether it contains no expression: `evaluate` then always returns the same value. */
  readonly isConstant: boolean;
  /**
   * @param maxCost the maximum work; MAX_EXPRESSION_COST by default
   * @throws StepError expression_failed, expression_limit (with the limit in its details), null_value (with the name)
   */
  evaluate(scope: Scope, maxCost?: number): unknown;
  /**
   * Does the same, and returns the work that it took.
   * @param throwIfInterrupted ends the evaluation by throwing; it is called after each 10 ms of work
   */
  measure(scope: Scope, maxCost?: number, throwIfInterrupted?: () => void): { value: unknown; cost: number };
}

/**
 * An issue of an expression. `path` is the place in the value, and the message quotes the expression with the position
 * in it.
 */
export type ExpressionIssue = PartialIssue;

export interface CheckResult {
  /** The type of the value. */
  shape: Shape;
  issues: ExpressionIssue[];
}
