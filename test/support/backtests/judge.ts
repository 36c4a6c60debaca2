/** Backtests generated workflows, and compares what each backtest says with runs of the changed workflow. */
import { coveringName } from "../../../schemas/difference-names.ts";
import type { BacktestRunRecord } from "../../../src/core/backtest-ports.ts";
import { compareValues } from "../../../src/engine/executor/backtests/show-differences.ts";
import { testEngine } from "../engine.ts";
import type { Change } from "./changes.ts";
import { definitionOf } from "./definition.ts";
import {
  compareObserved,
  countingPeer,
  observe,
  type ObservedRun,
  runForReal,
  type Truth,
} from "./observed-runs.ts";
import { oneAtATime, type Order } from "./one-at-a-time.ts";
import { runBacktest } from "./run-backtest.ts";
import type { Inputs, Workflow } from "./workflows.ts";

export interface Case {
  workflow: Workflow;
  change: Change;
  inputs: Inputs[];
  order: Order;
}

/** As many as the jobs that three runs of eight steps can have at a time, with fan-outs three items wide. */
const SLOTS = 3 * 8 * 3;

/**
 * Opens an engine for any number of cases.
 * @returns `judge`, which executes a case and throws an Error where a backtest says what is not true; and how often each result was
 *   right
 */
export async function backtestJudge() {
  const engine = await testEngine({ slots: SLOTS });
  const turns = oneAtATime(engine);
  const queue = await engine.executor(turns.inOrder(engine.engine.handler));
  const peer = countingPeer(engine, turns);
  const workflowId = await engine.define({ steps: [] });
  const counts: Record<string, number> = { cases: 0 };
  const count = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);
  const run = (definition: Record<string, unknown>, inputs: readonly Inputs[]): Promise<string[]> =>
    runForReal(engine, queue, { workflowId, definition }, inputs);

  async function backtest(
    definition: Record<string, unknown>,
    runs: readonly string[],
  ): Promise<BacktestRunRecord[]> {
    const calls = peer.count;
    const compared = await runBacktest(engine, queue, { workflowId, definition, runs });
    if (peer.count === calls) return compared;
    throw new Error(`the backtest called the peer ${peer.count - calls} times`);
  }

  async function judge({ workflow, change, inputs, order }: Case): Promise<void> {
    const [definition, changed] = [definitionOf(workflow), definitionOf(change.workflow)];
    turns.order = order;
    const sources = await run(definition, inputs);
    const unchanged = await backtest(definition, sources);
    turns.order = "failures last";
    const before = await runAgain(definition, sources, inputs);
    const after = await run(changed, inputs);
    const compared = await backtest(changed, sources);
    for (const [index, found] of compared.entries()) {
      const seen = {
        source: await observe(engine, peer, sources[index]!, definition),
        before: await observe(engine, peer, before[index]!, definition),
        after: await observe(engine, peer, after[index]!, changed),
      };
      const truth = compareObserved(seen.before, seen.after);
      const wrong =
        unchanged[index]!.result === "equal"
          ? (mistake(truth, found) ?? unnamed(seen, found))
          : "unchanged, but not equal";
      if (wrong !== undefined) {
        const about = { inputs: inputs[index], change: change.kind, order, definition, changed, ...seen };
        throw new Error(`${wrong}: ${JSON.stringify({ ...about, unchanged: unchanged[index], found })}`);
      }
      count(`${truth}: ${found.result} ${found.details?.difference?.reason ?? ""}`.trim());
    }
    count("cases");
  }

  /** What ran beside a failure is chance, so runs that failed run again, and fail as late as they can. */
  async function runAgain(
    definition: Record<string, unknown>,
    runs: readonly string[],
    inputs: readonly Inputs[],
  ): Promise<string[]> {
    const again: string[] = [];
    for (const [index, id] of runs.entries()) {
      const { status } = await engine.find(id);
      again.push(status === "succeeded" ? id : (await run(definition, [inputs[index]!]))[0]!);
    }
    return again;
  }

  return { judge, counts };
}

interface Seen {
  before: ObservedRun;
  after: ObservedRun;
}

/** What really differs and has no name in the result, if the run was compared. */
function unnamed({ before, after }: Seen, { result, details }: BacktestRunRecord): string | undefined {
  if (result === "equal") return details?.names === undefined ? undefined : "equal, with names";
  const names = details?.names ?? [];
  if (result === "not_comparable") return undefined;
  if (names.length === 0) return `${result}, without a name`;
  // Where a step asks otherwise, its recorded answer stands in, and what follows from another answer is not known.
  if (names.some((name) => name.startsWith("steps."))) return undefined;
  const missing = [
    ...(before.status === "succeeded" && after.status === "succeeded"
      ? compareValues(["output"], JSON.parse(before.output), JSON.parse(after.output)).names
      : []),
    ...(before.status !== after.status
      ? [after.status === "failed" ? `error.${after.error!.code}` : "status"]
      : []),
  ].filter((name) => coveringName(name, names) === undefined);
  return missing.length === 0 ? undefined : `${result}, without ${missing.join(", ")}`;
}

function mistake(truth: Truth, { result }: BacktestRunRecord): string | undefined {
  if (truth === "different" && result === "equal") return "different, but equal";
  if (truth === "same" && (result === "different" || result === "failing")) return `the same, but ${result}`;
  return undefined;
}
