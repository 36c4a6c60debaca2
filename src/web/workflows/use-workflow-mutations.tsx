/** Archives, restores and unpublishes a workflow. */
import { Anchor, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { idempotencyHeader } from "../api/queries.ts";
import { send } from "../api/client.ts";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { readWorkflow, invalidateWorkflows, type WorkflowWithEtag } from "./queries.ts";

/** Time for which archiving can be undone from its notification, in milliseconds. */
const UNDO_MS = 15_000;

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
    onSuccess: ({ data }) => notifySuccess(`Restored “${data.name}” (${data.status}).`),
    onError: (error, { workflow }) => notifyError(`Could not restore “${workflow.name}”`, error),
    onSettled: refresh,
  });
  const archive = useSingleFlightMutation({
    mutationFn: ({ workflow, etag }: WorkflowWithEtag) =>
      send("delete", "/workflows/{workflow_id}", {
        path: { workflow_id: workflow.id },
        query: {},
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
    onError: (error, { workflow }) => notifyError(`Could not archive “${workflow.name}”`, error),
    onSettled: refresh,
  });
  const unpublish = useSingleFlightMutation({
    mutationFn: ({ workflow, etag }: WorkflowWithEtag) =>
      send("post", "/workflows/{workflow_id}/unpublish", {
        path: { workflow_id: workflow.id },
        header: { "If-Match": etag, ...idempotencyHeader() },
        body: {},
      }),
    onSuccess: ({ data }) => notifySuccess(`Unpublished “${data.name}”.`),
    onError: (error, { workflow }) => notifyError(`Could not unpublish “${workflow.name}”`, error),
    onSettled: refresh,
  });
  return { archive, restore, unpublish };
}
