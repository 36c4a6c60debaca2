/** What can be done to a workflow at once, and taken back: archiving, restoring, unpublishing. */
import { Anchor, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { once } from "../api/queries.ts";
import { send } from "../api/client.ts";
import { done, failed } from "../ui/notify.ts";
import { useSend } from "../ui/use-send.ts";
import { readWorkflow, refresh, type Read } from "./queries.ts";

const UNDO_MS = 15_000;

/** Each is given what was seen: somebody else's change since then refuses it. */
export function useChanges() {
  const client = useQueryClient();
  const changed = () => refresh(client);
  const restore = useSend({
    mutationFn: ({ workflow, etag }: Read) =>
      send("post", "/workflows/{workflow_id}/restore", {
        path: { workflow_id: workflow.id },
        header: { "If-Match": etag, ...once() },
        body: {},
      }),
    onSuccess: ({ data }) => done(`“${data.name}” is back, ${data.status}.`),
    onError: (error, { workflow }) => failed(`“${workflow.name}” was not restored`, error),
    onSettled: changed,
  });
  const archive = useSend({
    mutationFn: ({ workflow, etag }: Read) =>
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
                  failed(`“${data.name}” was not restored`, error),
                );
              }}
            >
              Undo
            </Anchor>
          </Group>
        ),
      });
    },
    onError: (error, { workflow }) => failed(`“${workflow.name}” was not archived`, error),
    onSettled: changed,
  });
  const unpublish = useSend({
    mutationFn: ({ workflow, etag }: Read) =>
      send("post", "/workflows/{workflow_id}/unpublish", {
        path: { workflow_id: workflow.id },
        header: { "If-Match": etag, ...once() },
        body: {},
      }),
    onSuccess: ({ data }) => done(`“${data.name}” is a draft again.`),
    onError: (error, { workflow }) => failed(`“${workflow.name}” is still published`, error),
    onSettled: changed,
  });
  return { archive, restore, unpublish };
}
