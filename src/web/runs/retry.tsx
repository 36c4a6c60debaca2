/** Retries a run: asks for confirmation when side effects would be repeated, then opens the new run. */
import { List, Stack, Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import * as texts from "#texts/runs";
import type { Issue } from "../../../schemas/problem.ts";
import type { Run } from "../../../schemas/run.ts";
import { ApiError, send } from "../api/client.ts";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { endSentence } from "../ui/sentence.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { runName } from "./run-name.ts";
import { useIdempotencyHeader } from "./use-idempotency-header.ts";

export interface RetryRequest {
  /** Replaces the run's definition. */
  definition?: Record<string, unknown> | string;
  inputs?: Record<string, unknown>;
  confirm?: boolean;
}

/** @param onIssues shows the issues of the changed definition; by default a notification shows them */
export function useRetry(
  run: Pick<Run, "id" | "workflow_id" | "workflow_name" | "step">,
  onIssues?: (issues: Issue[]) => Promise<void>,
) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const headerFor = useIdempotencyHeader();
  const retry = useSingleFlightMutation({
    mutationFn: async (body: RetryRequest) =>
      (
        await send("post", "/runs/{run_id}/retry", {
          path: { run_id: run.id },
          body,
          header: headerFor(body),
        })
      ).data,
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: ["runs"] });
      notifySuccess(texts.newRunStarted({ name: runName(run) }));
      await navigate(`/runs/${id}`);
    },
    onError: (error, body) => {
      const issues = error instanceof ApiError ? (error.problem.errors ?? []) : [];
      if (error instanceof ApiError && error.code === "confirmation_needed")
        return confirmSideEffects(run, issues, () => retry.mutate({ ...body, confirm: true }));
      if (onIssues !== undefined && issues.length > 0) return onIssues(issues);
      notifyError(texts.retryFailed, error);
    },
  });
  return retry;
}

function confirmSideEffects(
  run: Pick<Run, "workflow_id" | "workflow_name" | "step">,
  issues: readonly Issue[],
  confirm: () => void,
) {
  modals.openConfirmModal({
    title: texts.repeatEffectsTitle({ name: runName(run) }),
    children: (
      <Stack gap="sm">
        <Text size="sm">{texts.repeatEffects({ count: issues.length })}</Text>
        <List size="sm">
          {issues.map(({ path, message }) => (
            <List.Item key={path}>{endSentence(message)}</List.Item>
          ))}
        </List>
        <Text size="sm">{texts.repeatEffectsHelp}</Text>
      </Stack>
    ),
    labels: { confirm: texts.retryAnyway, cancel: texts.cancel },
    confirmProps: { color: "red" },
    onConfirm: confirm,
  });
}
