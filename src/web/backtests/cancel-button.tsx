/** Cancels a backtest. */
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { Backtest } from "../../../schemas/backtest.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { pluralize } from "../runs/labels.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { backtestsKey } from "./queries.ts";

export function CancelButton({ backtest: { id, workflow_id: workflow, runs } }: { backtest: Backtest }) {
  const client = useQueryClient();
  const cancel = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/workflows/{workflow_id}/backtests/{backtest_id}/cancel", {
        path: { workflow_id: workflow, backtest_id: id },
        header: idempotencyHeader(),
        body: {},
      }),
    onSuccess: () => notifySuccess("Cancelled the backtest."),
    onError: (error) => notifyError("Could not cancel the backtest", error),
    onSettled: () => client.invalidateQueries({ queryKey: backtestsKey(workflow) }),
  });
  return (
    <Button
      variant="default"
      loading={cancel.isPending}
      onClick={() =>
        confirmAction({
          title: "Cancel this backtest?",
          consequence: `${pluralize(runs.pending, "run")} will not be compared. The results so far are kept.`,
          confirm: "Cancel the backtest",
          cancel: "Keep it running",
          onConfirm: () => cancel.mutate(undefined),
        })
      }
    >
      Cancel
    </Button>
  );
}
