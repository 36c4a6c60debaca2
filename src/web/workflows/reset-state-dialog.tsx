/** Gives keys of a workflow's state their defaults again, with a reason. */
import { Alert, Button, Checkbox, Group, Modal, Stack, Text, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as texts from "#texts/workflows";
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
      notifySuccess(texts.stateReset);
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
    <Modal opened onClose={onClose} title={texts.resetStateTitle} size="md" centered>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Text size="sm">{texts.resetStateHelp}</Text>
          <Checkbox.Group label={texts.keys} value={keys} onChange={setKeys}>
            <Stack gap={6} mt={6}>
              {shown.keys.map((key) => (
                <Checkbox key={key} value={key} label={key} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Textarea
            label={texts.reason}
            description={texts.reasonHelp}
            required
            autosize
            maxLength={1_000}
            value={reason}
            onChange={({ currentTarget: { value } }) => setReason(value)}
          />
          {isStale && (
            <Alert color="yellow" role="alert" title={texts.stateConflict}>
              <Text size="sm">{texts.stateConflictHelp}</Text>
            </Alert>
          )}
          {reset.isError && !isStale && <ErrorAlert error={reset.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button
              type="submit"
              color="red"
              loading={reset.isPending}
              disabled={isStale || keys.length === 0}
            >
              {texts.reset}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
