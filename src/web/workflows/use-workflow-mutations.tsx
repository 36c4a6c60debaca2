/** Archives, restores and unpublishes a workflow. */
import { Anchor, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import * as texts from "#texts/workflows";
import { idempotencyHeader } from "../api/queries.ts";
import { send } from "../api/client.ts";
import { notifyError, notifySuccess, notifyWarning } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { brokenCallersOf, namedCallers } from "./callers-in-error.ts";
import { readWorkflow, invalidateWorkflows, type WorkflowWithEtag } from "./queries.ts";

/** Time for which archiving can be undone from its notification, in milliseconds. */
const UNDO_MS = 15_000;

/** A workflow that its callers can't run afterwards. */
interface Removal extends WorkflowWithEtag {
  /** Callers that may break, as the user confirmed. */
  breakCallers?: readonly string[];
}

/** Asks whether the callers that a refusal names may break. @returns false for any other error */
function confirmBreaking(
  error: unknown,
  read: WorkflowWithEtag,
  action: "archive" | "unpublish",
  mutate: (removal: Removal) => void,
): boolean {
  const callers = brokenCallersOf(error);
  if (callers.length === 0) return false;
  const { name } = read.workflow;
  confirmAction({
    title: action === "archive" ? texts.archiveAlthoughUsed({ name }) : texts.unpublishAlthoughUsed({ name }),
    consequence: texts.runsWouldFail({ callers: namedCallers(callers) }),
    confirm: action === "archive" ? texts.archiveAnyway : texts.unpublishAnyway,
    onConfirm: () => mutate({ ...read, breakCallers: callers.map(({ id }) => id) }),
  });
  return true;
}

/** Each mutation takes the workflow that the user saw, and fails if it has changed since. */
export function useWorkflowMutations() {
  const client = useQueryClient();
  const refresh = () => invalidateWorkflows(client);
  const restore = useSingleFlightMutation({
    mutationFn: ({ workflow, etag }: WorkflowWithEtag) =>
      send("post", "/workflows/{workflow_id}/restore", {
        path: { workflow_id: workflow.id },
        header: { "If-Match": etag, ...idempotencyHeader() },
        body: {},
      }),
    onSuccess: ({ data }) => {
      notifySuccess(texts.restored({ name: data.name, status: data.status }));
      if (data.unpublished !== undefined) notifyWarning(data.unpublished.detail);
    },
    onError: (error, { workflow }) => notifyError(texts.restoreFailed({ name: workflow.name }), error),
    onSettled: refresh,
  });
  const archive = useSingleFlightMutation({
    mutationFn: ({ workflow, etag, breakCallers = [] }: Removal) =>
      send("delete", "/workflows/{workflow_id}", {
        path: { workflow_id: workflow.id },
        query: { break_callers: [...breakCallers] },
        header: { "If-Match": etag },
      }),
    onSuccess: ({ data }) => {
      const id = notifications.show({
        autoClose: UNDO_MS,
        color: "green",
        message: (
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm">{texts.archived({ name: data.name })}</Text>
            <Anchor
              component="button"
              type="button"
              size="sm"
              fw={600}
              onClick={() => {
                notifications.hide(id);
                readWorkflow(data.id).then(restore.mutate, (error: unknown) =>
                  notifyError(texts.restoreFailed({ name: data.name }), error),
                );
              }}
            >
              {texts.undo}
            </Anchor>
          </Group>
        ),
      });
    },
    onError: (error, read): void => {
      const isAsked = confirmBreaking(error, read, "archive", (removal) => archive.mutate(removal));
      if (!isAsked) notifyError(texts.archiveFailed({ name: read.workflow.name }), error);
    },
    onSettled: refresh,
  });
  const unpublish = useSingleFlightMutation({
    mutationFn: ({ workflow, etag, breakCallers = [] }: Removal) =>
      send("post", "/workflows/{workflow_id}/unpublish", {
        path: { workflow_id: workflow.id },
        header: { "If-Match": etag, ...idempotencyHeader() },
        body: { break_callers: [...breakCallers] },
      }),
    onSuccess: ({ data }) => notifySuccess(texts.unpublished({ name: data.name })),
    onError: (error, read): void => {
      const isAsked = confirmBreaking(error, read, "unpublish", (removal) => unpublish.mutate(removal));
      if (!isAsked) notifyError(texts.unpublishFailed({ name: read.workflow.name }), error);
    },
    onSettled: refresh,
  });
  return { archive, restore, unpublish };
}
