/** Gives keys of a workflow's state their defaults again, with a reason. */
import { Alert, Button, Checkbox, Group, Modal, Stack, Text, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { WorkflowStateContent } from "../../../schemas/workflow-state.ts";
import { ApiError, send } from "../api/client.ts";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { stateQuery } from "./queries.ts";

interface ResetStateDialogProps {
  state: WorkflowStateContent;
  etag: string;
  onClose: () => void;
}

export function ResetStateDialog({ state, etag, onClose }: ResetStateDialogProps) {
  const client = useQueryClient();
  // A run may commit while the dialog is open. The ETag of the shown values then refuses the change.
  const [shown] = useState({ keys: Object.keys(state.values), etag });
  const [keys, setKeys] = useState<string[]>(shown.keys);
  const [reason, setReason] = useState("");
  const { queryKey } = stateQuery(state.workflow_id);
  const reset = useMutation({
    mutationFn: () =>
      send("post", "/workflows/{workflow_id}/state/reset", {
        path: { workflow_id: state.workflow_id },
        header: { "If-Match": shown.etag },
        body: { reason, keys },
      }),
    onSuccess: () => {
      notifySuccess("Reset the state.");
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey }),
  });
  const isStale = reset.error instanceof ApiError && reset.error.status === 412;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (event.currentTarget.checkValidity()) reset.mutate();
    else event.currentTarget.reportValidity();
  };
  useRestoreFocus();
  return (
    <Modal opened onClose={onClose} title="Reset state" size="md" centered>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Text size="sm">
            The chosen keys get their defaults again. A run that is still running can’t commit any more: it
            fails with state_conflict.
          </Text>
          <Checkbox.Group label="Keys" value={keys} onChange={setKeys}>
            <Stack gap={6} mt={6}>
              {shown.keys.map((key) => (
                <Checkbox key={key} value={key} label={key} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Textarea
            label="Reason"
            description="Kept in the history and the audit log."
            required
            autosize
            maxLength={1_000}
            value={reason}
            onChange={({ currentTarget: { value } }) => setReason(value)}
          />
          {isStale && (
            <Alert color="yellow" role="alert" title="Written in the meantime">
              <Text size="sm">
                A run or another person wrote the state since you opened this dialog. Nothing was changed.
                Close it to see the new values.
              </Text>
            </Alert>
          )}
          {reset.isError && !isStale && <ErrorAlert error={reset.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              color="red"
              loading={reset.isPending}
              disabled={isStale || keys.length === 0}
            >
              Reset
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
