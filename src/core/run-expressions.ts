/** Expressions over recorded runs, as `group_runs` reads them. */
import type { PartialIssue } from "./connections.ts";

/** What such an expression can read. `steps` has the outputs of the steps that it reads. */
export interface RecordedRunScope {
  inputs: Readonly<Record<string, unknown>>;
  run: Readonly<Record<string, unknown>>;
  steps: Readonly<Record<string, unknown>>;
  state?: Readonly<Record<string, unknown>>;
  output?: unknown;
}

export interface RunExpression {
  /** The expression; not that which was given where it was written in another syntax. */
  readonly source: string;
  /** The ids of the steps that it reads. */
  readonly stepIds: ReadonlySet<string>;
  /** The other names that it reads: `inputs`, `output`, `state` or `run`. */
  readonly names: ReadonlySet<string>;
  /**
   * @param maxCost maximum work, in units of 10 ns of processor time
   * @returns the value, or why there is none, and the work that it took
   */
  evaluate(
    scope: RecordedRunScope,
    maxCost: number,
  ): ({ value: unknown } | { message: string }) & { cost: number };
}

/** @returns the compiled expression, or its issues */
export type CompileForRuns = (source: string) => Promise<RunExpression | { issues: readonly PartialIssue[] }>;
