/** Explains why the condition of a step is not true: its expression, and what the operands of it are. */
import type { Connections } from "../../core/connections.ts";
import { shortenText } from "../../core/shorten-text.ts";
import { StepError } from "../../core/step-errors.ts";
import { compileCel, type Scope } from "../definition/expressions/index.ts";
import { operandsOfCondition } from "../definition/expressions/operands.ts";
import type { PlannedStep } from "../definition/plan.ts";
import type { Evaluate } from "./evaluator.ts";

/** Maximum length of a value that is recorded, in characters of JSON. */
const MAX_VALUE_CHARS = 400;
/** Maximum length of an expression that is recorded, in characters. */
const MAX_EXPRESSION_CHARS = 1_000;

interface Operand {
  expression: string;
  value?: unknown;
  /** Instead of a long value. */
  truncated?: { chars: number; preview: string };
  /** Why it has no value. */
  error?: string;
}

interface ExplainTools {
  scope: Scope;
  evaluate: Evaluate;
  mask: Pick<Connections, "maskSecretsIn" | "maskSecrets">;
}

/**
 * Adds to the error of a step whose condition is not true its expression and the values of its operands, as `details`. Evaluating
 * them again has no effects, and costs at most as much as the limit of expressions allows for each.
 * @returns the same error for any other failure, and for a condition that reads nothing
 */
export async function explainCondition(
  thrown: unknown,
  { step, type }: Pick<PlannedStep, "step" | "type">,
  tools: ExplainTools,
): Promise<unknown> {
  if (!(thrown instanceof StepError) || thrown.code !== "assert_failed" || type.condition === undefined)
    return thrown;
  const condition = operandsOfCondition(step[type.condition]);
  if (condition === undefined || condition.operands.length === 0) return thrown;
  const operands: Operand[] = [];
  for (const expression of condition.operands) operands.push(await valueOf(expression, tools));
  const more = condition.total - operands.length;
  const details = {
    ...thrown.options.details,
    expression: shortenText(tools.mask.maskSecrets(condition.expression), MAX_EXPRESSION_CHARS),
    operands,
    ...(more > 0 && { more_operands: more }),
  };
  return new StepError(thrown.code, thrown.message, { ...thrown.options, details });
}

async function valueOf(source: string, { scope, evaluate, mask }: ExplainTools): Promise<Operand> {
  const expression = shortenText(mask.maskSecrets(source), MAX_EXPRESSION_CHARS);
  try {
    // Masked before it is cut: half a secret is not found.
    const value = mask.maskSecretsIn((await evaluate(compileCel(source), scope)) ?? null);
    const json = JSON.stringify(value);
    return json.length <= MAX_VALUE_CHARS
      ? { expression, value }
      : {
          expression,
          truncated: { chars: json.length, preview: json.slice(0, MAX_VALUE_CHARS).toWellFormed() },
        };
  } catch (error) {
    // The other side of && and || may have decided the condition without it.
    if (error instanceof StepError)
      return { expression, error: shortenText(mask.maskSecrets(error.message), MAX_EXPRESSION_CHARS) };
    throw error;
  }
}
