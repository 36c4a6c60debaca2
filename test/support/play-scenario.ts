/** The scenarios of all operations (parity-*.ts), played on one surface. */
import type { AnyTool } from "../../src/core/tool.ts";
import { catalogue } from "../../tools/index.ts";
import { ACCOUNT_SCENARIOS } from "./parity-accounts.ts";
import { BACKFILL_SCENARIOS } from "./parity-backfills.ts";
import { BACKTEST_SCENARIOS, FINISH } from "./parity-backtests.ts";
import { BULK_ACTION_SCENARIOS } from "./parity-bulk-actions.ts";
import { INTERRUPT, INTERRUPTION_SCENARIOS } from "./parity-interruptions.ts";
import { PROJECT_SCENARIOS } from "./parity-projects.ts";
import { REVIEW_SCENARIOS } from "./parity-reviews.ts";
import { SCENARIOS as OTHERS, type ParityCall } from "./parity-scenarios.ts";
import { STEP_SCENARIOS } from "./parity-steps.ts";
import { GIVE_UP, SUBSCRIPTION_SCENARIOS } from "./parity-subscriptions.ts";
import { RECEIVE, TRIGGER_SCENARIOS } from "./parity-triggers.ts";
import type { CallResult, SurfaceClient } from "./surface-clients.ts";

/** By the name of the operation that a scenario tries. */
export const SCENARIOS = {
  ...OTHERS,
  ...ACCOUNT_SCENARIOS,
  ...PROJECT_SCENARIOS,
  ...REVIEW_SCENARIOS,
  ...SUBSCRIPTION_SCENARIOS,
  ...STEP_SCENARIOS,
  ...BACKFILL_SCENARIOS,
  ...BACKTEST_SCENARIOS,
  ...BULK_ACTION_SCENARIOS,
  ...INTERRUPTION_SCENARIOS,
  ...TRIGGER_SCENARIOS,
};

export const toolNamed = (name: string): AnyTool => catalogue.find((tool) => tool.name === name)!;

/** Calls of scenarios that are no operations. */
export const PREPARATIONS: Readonly<
  Record<string, (way: SurfaceClient, input: Record<string, unknown>) => Promise<CallResult["output"]>>
> = {
  [RECEIVE]: (way, input) => way.deliver(input),
  [GIVE_UP]: (way) => way.giveUpDeliveries(),
  [FINISH]: (way) => way.finishBacktests(),
  [INTERRUPT]: (way, input) => way.interrupt(input),
};

/** @param afterEach called after each step */
export async function play(
  way: SurfaceClient,
  steps: readonly ParityCall[],
  afterEach: () => Promise<void> = async () => {},
): Promise<CallResult[]> {
  const outcomes: CallResult[] = [];
  for (const step of steps) {
    const input = typeof step.with === "function" ? step.with(outcomes) : (step.with ?? {});
    const by = step.by ?? (step.readOnly ? "readOnly" : "full");
    const prepare = PREPARATIONS[step.call];
    outcomes.push(
      prepare === undefined
        ? await way.call(toolNamed(step.call), input, by)
        : { output: await prepare(way, input) },
    );
    await afterEach();
    way.clock.advance(60_000);
  }
  return outcomes;
}
