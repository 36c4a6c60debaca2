/** Cancels a bulk action, and its unfinished retries if the user wants that. */
import { Button, Checkbox, Group, Modal, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { BulkAction } from "../../../schemas/bulk-action.ts";
import { send } from "../api/client.ts";
import { pluralize } from "../runs/labels.ts";
import { useIdempotencyHeader } from "../runs/use-idempotency-header.ts";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { bulkActionKey, bulkActionListKey } from "./queries.ts";
import { unfinishedRetries } from "./texts.ts";

interface CancelProps {
  id: string;
  bulkAction: BulkAction;
}

export function CancelButton(props: CancelProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Cancel…
      </Button>
      {isOpen && <CancelDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function CancelDialog({ id, bulkAction, onClose }: CancelProps & { onClose: () => void }) {
  const client = useQueryClient();
  const [isWithRetries, setWithRetries] = useState(false);
  const headerFor = useIdempotencyHeader();
  const cancel = useSingleFlightMutation({
    mutationFn: (body: { running: boolean }) =>
      send("post", "/bulk-actions/{bulk_action_id}/cancel", {
        path: { bulk_action_id: id },
        header: headerFor(body),
        body,
      }),
    onSuccess: () => {
      notifySuccess("Cancelled the bulk action.");
      onClose();
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: bulkActionKey(id) }),
        client.invalidateQueries({ queryKey: bulkActionListKey }),
      ]),
  });
  const retries = unfinishedRetries(bulkAction);
  const { pending } = bulkAction.runs;
  useRestoreFocus();
  return (
    <Modal opened onClose={onClose} title="Cancel this bulk action?" centered>
      <Stack gap="md">
        <Text size="sm">
          {pluralize(pending, "pending run")} {pending === 1 ? "is" : "are"} left out. What was done is kept.
        </Text>
        {bulkAction.action === "retry" && (
          <Checkbox
            label="Cancel its unfinished retries too"
            description={
              retries === 0
                ? "All retries that were started have ended."
                : `${pluralize(retries, "retry", "retries")} ${retries === 1 ? "has" : "have"} not ended.`
            }
            checked={isWithRetries}
            onChange={({ currentTarget }) => setWithRetries(currentTarget.checked)}
          />
        )}
        {cancel.isError && <ErrorAlert error={cancel.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Keep it running
          </Button>
          <Button
            color="red"
            loading={cancel.isPending}
            onClick={() => cancel.mutate({ running: isWithRetries })}
          >
            Cancel the bulk action
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
