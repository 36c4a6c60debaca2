/** What the models of a step used, and how it is told; that of a run is summed by the server. */
import type { Attempt } from "../../../schemas/run.ts";

export type Usage = NonNullable<Attempt["usage"]>;

/** @returns undefined where no model was asked; the cost is null where a price is not configured */
export function sumUsage(attempts: readonly Attempt[]): Usage | undefined {
  const used = attempts.flatMap(({ usage }) => usage ?? []);
  if (used.length === 0) return undefined;
  return used.reduce((sum, one) => ({
    input_tokens: sum.input_tokens + one.input_tokens,
    output_tokens: sum.output_tokens + one.output_tokens,
    cost: sum.cost === null || one.cost === null ? null : sum.cost + one.cost,
  }));
}

/** "812 tokens in, 64 out, cost 0.0031". The prices are configured without a currency. */
export function formatUsage({ input_tokens: input, output_tokens: output, cost }: Usage): string {
  const tokens = `${input.toLocaleString()} tokens in, ${output.toLocaleString()} out`;
  return cost === null ? tokens : `${tokens}, cost ${cost.toLocaleString(undefined, COST)}`;
}

const COST = { minimumSignificantDigits: 2, maximumSignificantDigits: 4 };
