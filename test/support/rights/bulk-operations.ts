/** Bulk actions: cancellations of one run, which are previewed, and then started by the same caller. */
import { answerTo } from "./conditions.ts";
import type { Maker, Makers } from "./request.ts";
import { chooseRun } from "./run-operations.ts";

export const BULK_OPERATIONS: Makers = [
  [
    4,
    "start_bulk_action",
    async (company, pick) => {
      const run = await chooseRun(company, pick, false);
      if (run === undefined) return undefined;
      const { id, project, workflow } = run;
      const input = { action: "cancel", run_ids: [id], wait: 0 };
      return {
        operation: "start_bulk_action",
        input,
        expected: (actor) => answerTo(company, actor, "start_bulk_action", { run }),
        check: (_, { runs }) => ((runs as { total: number }).total === 1 ? undefined : "it cancels nothing"),
        async after(actor, { digest }) {
          const { output } = await company.send(actor, "rest", "start_bulk_action", { ...input, digest });
          company.bulkActions.push({ id: String(output["id"]), project, workflow });
          await company.settle();
        },
      };
    },
  ],
  [2, "get_bulk_action", ofBulkAction("get_bulk_action")],
  [2, "list_bulk_action_runs", ofBulkAction("list_bulk_action_runs")],
  [2, "cancel_bulk_action", ofBulkAction("cancel_bulk_action")],
];

function ofBulkAction(operation: "get_bulk_action" | "list_bulk_action_runs" | "cancel_bulk_action"): Maker {
  return (company, pick) => {
    const bulkAction = pick.one(company.bulkActions);
    if (bulkAction === undefined) return undefined;
    return {
      operation,
      input: { bulk_action_id: bulkAction.id },
      expected(actor) {
        const answer = answerTo(company, actor, operation, { bulkAction });
        return operation === "cancel_bulk_action" && answer === "ok" ? "bulk_action_finished" : answer;
      },
    };
  };
}
