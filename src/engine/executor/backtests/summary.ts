/** Adds up what was found about the runs of a backtest. */
import type { BacktestEffect, BacktestSummary } from "../../../../schemas/backtest.ts";
import type { BacktestDetails, BacktestReader } from "../../../core/backtest-ports.ts";

/** Number of runs that are read at a time. */
const PAGE = 100;

/** Of runs that could not be compared, what is known counts too. */
export async function summaryOf(
  backtests: Pick<BacktestReader, "runs">,
  id: string,
): Promise<BacktestSummary> {
  const effects = new Map<string, BacktestEffect>();
  const sums = { stepMs: zero(), tokens: zero(), cost: zero() };
  const reasons: BacktestSummary["reasons"] = {};
  for (let after: number | null = null; ;) {
    const page = await backtests.runs(id, { after, limit: PAGE });
    for (const { details } of page) {
      if (details === null) continue;
      add(effects, sums, details);
      const reason = details.difference?.reason;
      if (reason !== undefined) reasons[reason] = (reasons[reason] ?? 0) + 1;
    }
    if (page.length < PAGE) break;
    after = page.at(-1)!.position;
  }
  return {
    effects: [...effects.values()],
    reasons,
    step_ms: sums.stepMs,
    tokens: sums.tokens,
    cost: sums.cost,
  };
}

const zero = () => ({ before: 0, after: 0 });

type Sums = Pick<BacktestDetails, "stepMs" | "tokens" | "cost">;

function add(effects: Map<string, BacktestEffect>, sums: Sums, details: BacktestDetails): void {
  for (const name of ["stepMs", "tokens", "cost"] as const) {
    sums[name].before += details[name].before;
    sums[name].after += details[name].after;
  }
  for (const effect of details.effects) {
    const sum = effects.get(effect.step);
    if (sum === undefined) {
      effects.set(effect.step, { ...effect });
      continue;
    }
    for (const name of ["unchanged", "changed", "added", "removed"] as const) sum[name] += effect[name];
    if (effect.first !== undefined) sum.first ??= effect.first;
  }
}
