/** Archives, restores and unpublishes a workflow. */
import { Anchor, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
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
  verb: "Archive" | "Unpublish",
  mutate: (removal: Removal) => void,
): boolean {
  const callers = brokenCallersOf(error);
  if (callers.length === 0) return false;
  confirmAction({
    title: `${verb} “${read.workflow.name}” although others run it?`,
    consequence: `Runs of these workflows would fail: ${namedCallers(callers)}.`,
    confirm: `${verb} anyway`,
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
      notifySuccess(`Restored “${data.name}” (${data.status}).`);
      if (data.unpublished !== undefined) notifyWarning(data.unpublished.detail);
    },
    onError: (error, { workflow }) => notifyError(`Could not restore “${workflow.name}”`, error),
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
            <Text size="sm">Archived “{data.name}”.</Text>
            <Anchor
              component="button"
              type="button"
              size="sm"
              fw={600}
              onClick={() => {
                notifications.hide(id);
                readWorkflow(data.id).then(restore.mutate, (error: unknown) =>
                  notifyError(`Could not restore “${data.name}”`, error),
                );
              }}
            >
              Undo
            </Anchor>
          </Group>
        ),
      });
    },
    onError: (error, read): void => {
      const isAsked = confirmBreaking(error, read, "Archive", (removal) => archive.mutate(removal));
      if (!isAsked) notifyError(`Could not archive “${read.workflow.name}”`, error);
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
    onSuccess: ({ data }) => notifySuccess(`Unpublished “${data.name}”.`),
    onError: (error, read): void => {
      const isAsked = confirmBreaking(error, read, "Unpublish", (removal) => unpublish.mutate(removal));
      if (!isAsked) notifyError(`Could not unpublish “${read.workflow.name}”`, error);
    },
    onSettled: refresh,
  });
  return { archive, restore, unpublish };
}
