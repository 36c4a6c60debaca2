/** What the rest of the engine sees of expressions. */
import type { Shape } from "../../../core/shapes.ts";
import type { PartialIssue } from "../../../core/connections.ts";

/** The values that an expression can name. `steps` holds at least those that it reads. */
export interface Scope {
  inputs: Readonly<Record<string, unknown>>;
  run: Readonly<Record<string, unknown>>;
  steps: Readonly<Record<string, unknown>>;
  /** In a fan-out. */
  item?: unknown;
  index?: number;
}

/** What is known of them before anything runs. */
export interface TypeScope {
  inputs: Shape;
  run: Shape;
  /** The steps that may be read here (ancestors; in `output` all). */
  steps: Readonly<Record<string, Shape>>;
  /** Ids of steps that exist but may not be read here, for the fault `not_an_ancestor`. */
  otherSteps: ReadonlySet<string>;
  item?: Shape;
  index?: Shape;
}

/** A compiled expression, template or value with templates in it: made once, evaluated often. */
export interface CompiledExpression {
  /** Ids of the steps that it reads, so that only their outputs need to be loaded. */
  readonly stepIds: ReadonlySet<string>;
  /** Whether it holds no expression: `evaluate` gives the same each time. */
  readonly isConstant: boolean;
  /**
   * @throws StepError expression_failed, expression_limit (which bound, how large), null_value (which name is null)
   */
  evaluate(scope: Scope): unknown;
}

/**
 * A fault of an expression: `path` is where in the value it stands, the message quotes the expression and says where
 * in it.
 */
export type ExpressionIssue = PartialIssue;

export interface CheckResult {
  /** What the value will be. */
  shape: Shape;
  issues: ExpressionIssue[];
}
