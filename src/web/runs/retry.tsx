/** Retries a run: asks for confirmation when side effects would be repeated, then opens the new run. */
import { List, Stack, Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import type { Issue, Problem } from "../../../schemas/problem.ts";
import type { Run } from "../../../schemas/run.ts";
import { ApiError, send } from "../api/client.ts";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { endSentence } from "../ui/sentence.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { RunName } from "./run-name.tsx";
import { useIdempotencyHeader } from "./use-idempotency-header.ts";

export interface RetryRequest {
  /** Replaces the run's definition. */
  definition?: Record<string, unknown> | string;
  inputs?: Record<string, unknown>;
  confirm?: boolean;
}

/** @param onIssues shows the issues of the changed definition and inputs; by default a notification shows them */
export function useRetry(
  run: Pick<Run, "id" | "workflow_id" | "step">,
  onIssues?: (problem: Problem, issues: readonly Issue[]) => Promise<void>,
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
      notifySuccess(
        <>
          New run of <RunName run={run} /> started.
        </>,
      );
      await navigate(`/runs/${id}`);
    },
    onError: (error, body) => {
      if (!(error instanceof ApiError)) return notifyError("Could not retry the run", error);
      const { errors: issues = [] } = error.problem;
      if (error.code === "confirmation_needed")
        return confirmSideEffects(run, issues, () => retry.mutate({ ...body, confirm: true }));
      if (onIssues !== undefined && issues.length > 0) return onIssues(error.problem, issues);
      notifyError("Could not retry the run", error);
    },
  });
  return retry;
}

function confirmSideEffects(
  run: Pick<Run, "workflow_id" | "step">,
  issues: readonly Issue[],
  confirm: () => void,
) {
  modals.openConfirmModal({
    title: (
      <>
        Repeat side effects of <RunName run={run} />?
      </>
    ),
    children: (
      <Stack gap="sm">
        <Text size="sm">
          {issues.length === 1 ? "This step has side effects" : "These steps have side effects"} that may
          already have happened:
        </Text>
        <List size="sm">
          {issues.map(({ path, message }) => (
            <List.Item key={path}>{endSentence(message)}</List.Item>
          ))}
        </List>
        <Text size="sm">Check whether they happened before you retry. No run has been started yet.</Text>
      </Stack>
    ),
    labels: { confirm: "Retry anyway", cancel: "Cancel" },
    confirmProps: { color: "red" },
    onConfirm: confirm,
  });
}
