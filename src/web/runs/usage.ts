/** The model usage of a step; the server sums up that of a run. */
import * as texts from "#texts/runs";
import type { Attempt } from "../../../schemas/run.ts";
import { formatNumber } from "../locale/locale.ts";

export type Usage = NonNullable<Attempt["usage"]>;

/** @returns undefined when no model was called; `cost` is null when a price is not configured */
export function sumUsage(attempts: readonly Attempt[]): Usage | undefined {
  const usages = attempts.flatMap(({ usage }) => usage ?? []);
  if (usages.length === 0) return undefined;
  return usages.reduce((sum, one) => ({
    input_tokens: sum.input_tokens + one.input_tokens,
    output_tokens: sum.output_tokens + one.output_tokens,
    cost: sum.cost === null || one.cost === null ? null : sum.cost + one.cost,
  }));
}

/** "812 input tokens, 64 output tokens, cost 0.0031". Prices are configured without a currency. */
export function formatUsage({ input_tokens: input, output_tokens: output, cost }: Usage): string {
  return cost === null
    ? texts.usage({ input, output })
    : texts.usageWithCost({ input, output, cost: formatNumber(cost, COST_FORMAT) });
}

const COST_FORMAT = { minimumSignificantDigits: 2, maximumSignificantDigits: 4 };
