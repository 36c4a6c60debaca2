/** Retrying a run: it asks first where something with effects would be done twice, then goes to the new run. */
import { List, Stack, Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import type { Issue } from "../../../schemas/problem.ts";
import type { Run } from "../../../schemas/run.ts";
import { ApiError, send } from "../api/client.ts";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { useIdempotencyHeader } from "./use-idempotency-header.ts";

export interface RetryRequest {
  /** In place of the run's own. */
  definition?: Record<string, unknown> | string;
  inputs?: Record<string, unknown>;
  confirm?: boolean;
}

/** @param onIssues who shows what is wrong with the changed definition; else it is told in passing */
export function useRetry(
  run: Pick<Run, "id" | "workflow_id">,
  onIssues?: (issues: Issue[]) => Promise<void>,
) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const keyOf = useIdempotencyHeader();
  const retry = useSingleFlightMutation({
    mutationFn: async (body: RetryRequest) =>
      (await send("post", "/runs/{run_id}/retry", { path: { run_id: run.id }, body, header: keyOf(body) }))
        .data,
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: ["runs"] });
      notifySuccess(`A new run of ${run.workflow_id} has begun.`);
      await navigate(`/runs/${id}`);
    },
    onError: (error, body) => {
      const issues = error instanceof ApiError ? (error.problem.errors ?? []) : [];
      if (error instanceof ApiError && error.code === "confirmation_needed")
        return askAgain(run, issues, () => retry.mutate({ ...body, confirm: true }));
      if (onIssues !== undefined && issues.length > 0) return onIssues(issues);
      notifyError("The run was not retried", error);
    },
  });
  return retry;
}

function askAgain(
  { workflow_id: workflow }: Pick<Run, "workflow_id">,
  issues: readonly Issue[],
  confirm: () => void,
) {
  modals.openConfirmModal({
    title: `Retry the run of ${workflow}, and do this again?`,
    children: (
      <Stack gap="sm">
        <Text size="sm">
          {issues.length === 1 ? "This step acts" : "These steps act"} on something outside, and may already
          have done so:
        </Text>
        <List size="sm">
          {issues.map(({ path, message }) => (
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
