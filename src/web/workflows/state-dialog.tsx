/** Sets the state of a workflow, as JSON. */
import { Alert, Button, Group, Modal, Stack, Text, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as texts from "#texts/workflows";
import type { WorkflowStateContent } from "../../../schemas/workflow-state.ts";
import { ApiError, send } from "../api/client.ts";
import { issueText } from "../forms/issues.ts";
import { JsonField } from "../forms/json-field.tsx";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { stateQuery } from "./queries.ts";

interface StateDialogProps {
  state: WorkflowStateContent;
  etag: string;
  onClose: () => void;
}

export function StateDialog({ state, etag, onClose }: StateDialogProps) {
  const client = useQueryClient();
  // A run may commit while the dialog is open. The ETag of the shown values then refuses the change.
  const [initial] = useState({ values: state.values, etag });
  const [values, setValues] = useState<unknown>(state.values);
  const [reason, setReason] = useState("");
  const { queryKey } = stateQuery(state.workflow_id);
  const save = useMutation({
    mutationFn: () =>
      send("put", "/workflows/{workflow_id}/state", {
        path: { workflow_id: state.workflow_id },
        header: { "If-Match": initial.etag },
        body: {
          values: values as Record<string, unknown>,
          ...(reason.trim() !== "" && { reason }),
        },
      }),
    onSuccess: () => {
      notifySuccess(texts.stateSaved);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey }),
  });
  const isStale = save.error instanceof ApiError && save.error.status === 412;
  const issues = (save.error instanceof ApiError && save.error.problem.errors) || [];
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (event.currentTarget.checkValidity()) save.mutate();
  };
  useRestoreFocus();
  return (
    <Modal opened onClose={onClose} title={texts.editState} size="lg" centered>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Text size="sm">{texts.editStateHelp}</Text>
          <JsonField
            label={texts.values}
            help={texts.valuesHelp}
            objectOnly
            rows={8}
            empty={{}}
            value={values}
            onChange={setValues}
            error={issues.length > 0 ? issueText(issues) : undefined}
          />
          <Textarea
            label={texts.reasonOptional}
            description={texts.reasonHelp}
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
          {save.isError && !isStale && issues.length === 0 && <ErrorAlert error={save.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={isStale}>
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
