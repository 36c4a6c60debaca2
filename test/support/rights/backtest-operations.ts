/** Backtests: of versions and of definitions that are not saved. They start runs without a caller, which are trials. */
import type { Company } from "./company.ts";
import type { Run, Workflow } from "./made.ts";
import { answerTo } from "./conditions.ts";
import type { Maker, Makers } from "./request.ts";
import { live, runOf } from "./things.ts";

export const BACKTEST_OPERATIONS: Makers = [
  [
    8,
    "backtest_workflow",
    async (company, pick) => {
      const workflow = pick.one(live(company));
      if (workflow === undefined) return undefined;
      const unsaved = pick.one([
        {},
        {},
        { given: { note: { mark: 1 } } },
        { patch: [{ op: "update_step", id: "note", set: { values: { mark: pick.number(1_000) } } }] },
      ])!;
      const { id, versions, project } = workflow;
      const run: Run = {
        ...runOf(workflow, versions.length),
        isUnsaved: Object.keys(unsaved).length > 0,
        isTrial: true,
      };
      const hasRuns = await hasRunsToCompare(company, workflow);
      return {
        operation: "backtest_workflow",
        input: { workflow_id: id, last: 3, wait: 0, ...unsaved },
        expected: (actor) => answerTo(company, actor, "backtest_workflow", { workflow, run, hasRuns }),
        async after(_, output) {
          company.backtests.push({ id: output.id, workflow, project });
          await company.settle();
        },
      };
    },
  ],
  [2, "get_backtest", ofBacktest("get_backtest")],
  [2, "list_backtest_runs", ofBacktest("list_backtest_runs")],
  [2, "cancel_backtest", ofBacktest("cancel_backtest")],
];

/** Runs of the schedule, triggers and callers count too, which the model does not know. */
const hasRunsToCompare = async (
  { instance: { read } }: Company,
  { id, project }: Workflow,
): Promise<boolean> =>
  (await read.runs.count({ workflowId: id, project, status: ["succeeded", "failed"], isTrial: false })) > 0;

function ofBacktest(operation: "get_backtest" | "list_backtest_runs" | "cancel_backtest"): Maker {
  return (company, pick) => {
    const backtest = pick.one(company.backtests);
    if (backtest === undefined) return undefined;
    const { id, workflow, project: startedIn } = backtest;
    return {
      operation,
      input: { workflow_id: workflow.id, backtest_id: id },
      expected(actor) {
        const answer = answerTo(company, actor, operation, { workflow, startedIn });
        return operation === "cancel_backtest" && answer === "ok" ? "ok|backtest_finished" : answer;
      },
    };
  };
}
