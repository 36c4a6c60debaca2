/** Adds up what was found about the runs of a backtest. */
import type { BacktestEffect, BacktestSummary } from "../../../../schemas/backtest.ts";
import type { BacktestDetails, BacktestReader } from "../../../core/backtest-ports.ts";

/** Number of runs that are read at a time. */
const PAGE = 100;
/** Maximum number of names of differences that a summary has, and of those that are counted at a time. */
const MAX_NAMES = 50;
const MAX_COUNTED = 10_000;

/** Of runs that could not be compared, what is known counts too. */
export async function summaryOf(
  backtests: Pick<BacktestReader, "runs">,
  id: string,
): Promise<BacktestSummary> {
  const effects = new Map<string, BacktestEffect>();
  const sums = { stepMs: zero(), tokens: zero(), cost: zero() };
  const reasons: BacktestSummary["reasons"] = {};
  const differing = new Map<string, number>();
  for (let after: number | null = null; ;) {
    const page = await backtests.runs(id, { after, limit: PAGE });
    for (const { details } of page) {
      if (details === null) continue;
      add(effects, sums, details);
      const reason = details.difference?.reason;
      if (reason !== undefined) reasons[reason] = (reasons[reason] ?? 0) + 1;
      for (const name of details.names ?? [])
        if (differing.has(name) || differing.size < MAX_COUNTED)
          differing.set(name, (differing.get(name) ?? 0) + 1);
    }
    if (page.length < PAGE) break;
    after = page.at(-1)!.position;
  }
  return {
    effects: [...effects.values()],
    differing: [...differing]
      .map(([name, runs]) => ({ name, runs }))
      .toSorted((a, b) => b.runs - a.runs)
      .slice(0, MAX_NAMES),
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
