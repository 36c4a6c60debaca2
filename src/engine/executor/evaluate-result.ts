/** Evaluates the result of a run whose steps have all ended: its output, and what it commits to the workflow's state. */
import type { RunRecord } from "../../core/model.ts";
import { formatPath } from "../../core/issues.ts";
import type { PartialIssue } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { Validation } from "../../core/validation.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { compileCel } from "../definition/expressions/index.ts";
import type { Plan } from "../definition/plan.ts";
import type { Evaluate } from "./evaluator.ts";
import type { ExpressionScopes } from "./expression-scopes.ts";
import { toCondition } from "./step-values.ts";

/** Maximum size of a run's output, in characters of JSON. */
const MAX_OUTPUT_CHARS = 4 * 1024 * 1024;

interface ResultTools {
  scopes: ExpressionScopes;
  evaluate: Evaluate;
  validation: Validation;
}

/** @throws StepError */
export async function evaluateOutput(
  run: RunRecord,
  plan: Plan,
  { scopes, evaluate, validation }: ResultTools,
): Promise<unknown> {
  const output =
    plan.output === null
      ? await outputOfLastStep(run, plan, scopes)
      : await evaluate(plan.output, await scopes.loadScope(plan, run, plan.output.stepIds));
  const chars = JSON.stringify(output ?? null).length;
  if (chars > MAX_OUTPUT_CHARS) {
    throw new StepError(
      "output_too_large",
      `The run's output has ${chars} characters of JSON; at most ${MAX_OUTPUT_CHARS} are allowed.`,
      { fix: "Name the parts that are needed in output." },
    );
  }
  const { output_schema: schema } = plan.compiled.definition;
  if (schema === undefined) return output;
  const parsed = await validation.parseValue(schema, output ?? null, { owner: usageSubjectOf(run.actor) });
  if ("issues" in parsed) throw outputInvalid(parsed.issues);
  return output;
}

function outputInvalid(issues: readonly PartialIssue[]): StepError {
  const errors = issues.map((issue) => Object.assign({}, issue, { path: formatPath(issue.path ?? []) }));
  const listed = errors.slice(0, 3).map(({ path, message }) => [path, message].filter(Boolean).join(" "));
  return new StepError("output_invalid", `It does not match output_schema: ${listed.join("; ")}.`, {
    fix: "Change output, or output_schema if the new output is intended.",
    details: { errors: errors.slice(0, 20) },
  });
}

async function outputOfLastStep(run: RunRecord, plan: Plan, scopes: ExpressionScopes): Promise<unknown> {
  const { id } = plan.steps.at(-1)!.step;
  const { status: _status, error: _error, ...output } = await scopes.stepValue(plan, run, id);
  return output;
}

/**
 * Evaluates `commit` and checks it against `state`.
 * @returns the values by key; null without `commit`
 * @throws StepError state_invalid, and those of expressions
 */
export async function evaluateCommit(
  run: RunRecord,
  plan: Plan,
  { scopes, evaluate, validation }: ResultTools,
): Promise<Record<string, unknown> | null> {
  if (plan.commit === null) return null;
  const scope = await scopes.loadScope(plan, run, plan.commit.stepIds);
  const values = (await evaluate(plan.commit, scope)) as Record<string, unknown>;
  const [first] = await validation.stateIssues(plan.compiled.definition.state ?? {}, values, {
    owner: usageSubjectOf(run.actor),
  });
  if (first === undefined) return values;
  throw new StepError(
    "state_invalid",
    `${formatPath(first.path ?? []) || "The commit"} ${first.message}. Nothing was written.`,
    { fix: first.fix ?? "Correct the value in commit, or the schema in state." },
  );
}

/** Maximum length of the output in the message of an assertion, in characters of JSON. */
const SHOWN_CHARS = 300;

/**
 * Evaluates the assertions of an example, in the run of a trial.
 * @throws StepError assert_failed for the first that is not true, with its index in the details, and those of expressions
 */
export async function evaluateAssertions(
  run: RunRecord,
  plan: Plan,
  output: unknown,
  { runs, scopes, evaluate }: ResultTools & { runs: Pick<RunReader, "trial"> },
): Promise<void> {
  const { assert: assertions = [] } = (run.isTrial ? await runs.trial(run.id) : null) ?? {};
  for (const [index, source] of assertions.entries()) {
    const compiled = compileCel(source);
    const scope = { ...(await scopes.loadScope(plan, run, compiled.stepIds)), output };
    if (toCondition(await evaluate(compiled, scope), `assert[${index}]`)) continue;
    const shown = JSON.stringify(output ?? null);
    const start = shown.length <= SHOWN_CHARS ? shown : `${shown.slice(0, SHOWN_CHARS).toWellFormed()}…`;
    throw new StepError(
      "assert_failed",
      `[${index}] is not true: ${String(source)}. The output is ${start}.`,
      {
        details: { assert: index },
      },
    );
  }
}
