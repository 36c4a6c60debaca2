/** What can be done with a run: stop it, retry it, or change its definition and retry. */
import { Button } from "@mantine/core";
import { IconBan, IconPencil, IconPlayerPlay, IconRefresh } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { send } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { useRetry } from "./retry.tsx";
import { hasEnded, type ShownRun } from "./live-updates.ts";
import { useIdempotencyHeader } from "./use-idempotency-header.ts";

export function RunActions({ run }: { run: ShownRun }) {
  const may = useHasScope();
  if (!may("run")) return null;
  // A key of its own for each run: it stands for one press of the button.
  return hasEnded(run) ? <AfterTheEnd key={run.id} run={run} /> : <Cancel key={run.id} run={run} />;
}

function Cancel({ run }: { run: ShownRun }) {
  const client = useQueryClient();
  const keyOf = useIdempotencyHeader();
  const cancel = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/runs/{run_id}/cancel", { path: { run_id: run.id }, header: keyOf({}), body: {} }),
    onSuccess: () => notifySuccess(`The run of ${run.workflow_id} is cancelled.`),
    onError: (error) => notifyError("The run was not cancelled", error),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["runs"] }),
        client.invalidateQueries({ queryKey: ["approvals"] }),
      ]),
  });
  const stopping = run.stopping === true || cancel.isPending;
  return (
    <Button
      variant="default"
      leftSection={<IconBan size={16} aria-hidden />}
      loading={stopping}
      onClick={() =>
        confirmAction({
          title: `Cancel the run of ${run.workflow_id}?`,
          consequence: `${run.id} stops, and so do the runs that it started. What it has done stays done. It can be retried afterwards.`,
          confirm: "Cancel the run",
          cancel: "Keep it running",
          onConfirm: () => cancel.mutate(),
        })
      }
    >
      Cancel
    </Button>
  );
}

function AfterTheEnd({ run }: { run: ShownRun }) {
  const may = useHasScope();
  const retry = useRetry(run);
  return (
    <>
      {may("write") && (
        <Button
          component={Link}
          to={`/runs/${run.id}/retry`}
          variant="default"
          leftSection={<IconPencil size={16} aria-hidden />}
        >
          Edit and retry
        </Button>
      )}
      {/* Of a run that succeeded everything would be reused: it is run anew instead. */}
      {run.status === "succeeded" ? (
        <Button
          component={Link}
          to={`/workflows/${run.workflow_id}/run`}
          variant="default"
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
        >
          Run again
        </Button>
      ) : (
        <Button
          leftSection={<IconRefresh size={16} aria-hidden />}
          loading={retry.isPending}
          onClick={() => retry.mutate({})}
        >
          {run.failed_step === undefined ? "Retry" : `Retry from ${run.failed_step.id}`}
        </Button>
      )}
    </>
  );
}
