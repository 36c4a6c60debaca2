/** Retrying a run: it asks first where something with effects would be done twice, then goes to the new run. */
import { List, Stack, Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import type { Fault } from "../../../schemas/problem.ts";
import type { Run } from "../../../schemas/run.ts";
import { ApiError, send } from "../api/client.ts";
import { done, failed } from "../ui/notify.ts";
import { useSend } from "../ui/use-send.ts";
import { useOnce } from "./use-once.ts";

export interface RetryWith {
  /** In place of the run's own. */
  definition?: Record<string, unknown> | string;
  inputs?: Record<string, unknown>;
  confirm?: boolean;
}

/** @param onFaults who shows what is wrong with the changed definition; else it is told in passing */
export function useRetry(
  run: Pick<Run, "id" | "workflow_id">,
  onFaults?: (faults: Fault[]) => Promise<void>,
) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const keyOf = useOnce();
  const retry = useSend({
    mutationFn: async (body: RetryWith) =>
      (await send("post", "/runs/{run_id}/retry", { path: { run_id: run.id }, body, header: keyOf(body) }))
        .data,
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: ["runs"] });
      done(`A new run of ${run.workflow_id} has begun.`);
      await navigate(`/runs/${id}`);
    },
    onError: (error, body) => {
      const faults = error instanceof ApiError ? (error.problem.errors ?? []) : [];
      if (error instanceof ApiError && error.code === "confirmation_needed")
        return askAgain(run, faults, () => retry.mutate({ ...body, confirm: true }));
      if (onFaults !== undefined && faults.length > 0) return onFaults(faults);
      failed("The run was not retried", error);
    },
  });
  return retry;
}

function askAgain(
  { workflow_id: workflow }: Pick<Run, "workflow_id">,
  faults: readonly Fault[],
  confirm: () => void,
) {
  modals.openConfirmModal({
    title: `Retry the run of ${workflow}, and do this again?`,
    children: (
      <Stack gap="sm">
        <Text size="sm">
          {faults.length === 1 ? "This step acts" : "These steps act"} on something outside, and may already
          have done so:
        </Text>
        <List size="sm">
          {faults.map(({ path, message }) => (
            <List.Item key={path}>{message}.</List.Item>
          ))}
        </List>
        <Text size="sm">Look first whether it took place. Nothing has been started yet.</Text>
      </Stack>
    ),
    labels: { confirm: "Do it again", cancel: "Leave it" },
    confirmProps: { color: "red" },
    onConfirm: confirm,
  });
}
