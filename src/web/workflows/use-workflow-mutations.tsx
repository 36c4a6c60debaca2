/** What can be done to a workflow at once, and taken back: archiving, restoring, unpublishing. */
import { Anchor, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { idempotencyHeader } from "../api/queries.ts";
import { send } from "../api/client.ts";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { readWorkflow, invalidateWorkflows, type WorkflowWithEtag } from "./queries.ts";

const UNDO_MS = 15_000;

/** Each is given what was seen: somebody else's change since then refuses it. */
export function useWorkflowMutations() {
  const client = useQueryClient();
  const changed = () => invalidateWorkflows(client);
  const restore = useSingleFlightMutation({
    mutationFn: ({ workflow, etag }: WorkflowWithEtag) =>
      send("post", "/workflows/{workflow_id}/restore", {
        path: { workflow_id: workflow.id },
        header: { "If-Match": etag, ...idempotencyHeader() },
        body: {},
      }),
    onSuccess: ({ data }) => notifySuccess(`“${data.name}” is back, ${data.status}.`),
    onError: (error, { workflow }) => notifyError(`“${workflow.name}” was not restored`, error),
    onSettled: changed,
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
            <Text size="sm">“{data.name}” is archived.</Text>
            <Anchor
              component="button"
              type="button"
              size="sm"
              fw={600}
              onClick={() => {
                notifications.hide(id);
                readWorkflow(data.id).then(restore.mutate, (error: unknown) =>
                  notifyError(`“${data.name}” was not restored`, error),
                );
              }}
            >
              Undo
            </Anchor>
          </Group>
        ),
      });
    },
    onError: (error, { workflow }) => notifyError(`“${workflow.name}” was not archived`, error),
    onSettled: changed,
  });
  const unpublish = useSingleFlightMutation({
    mutationFn: ({ workflow, etag }: WorkflowWithEtag) =>
      send("post", "/workflows/{workflow_id}/unpublish", {
        path: { workflow_id: workflow.id },
        header: { "If-Match": etag, ...idempotencyHeader() },
        body: {},
      }),
    onSuccess: ({ data }) => notifySuccess(`“${data.name}” is a draft again.`),
    onError: (error, { workflow }) => notifyError(`“${workflow.name}” is still published`, error),
    onSettled: changed,
  });
  return { archive, restore, unpublish };
}
