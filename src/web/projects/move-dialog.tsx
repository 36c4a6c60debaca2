/** Moves a workflow to another project that the user administers. */
import { Button, Checkbox, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/projects";
import * as uiTexts from "#texts/ui";
import { projectOf } from "../../../schemas/project-ids.ts";
import { ApiError, send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { notifySuccess, notifyWarning } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { BrokenCallers, useCallerConfirmation } from "../workflows/broken-callers.tsx";
import { invalidateWorkflows, type WorkflowWithEtag } from "../workflows/queries.ts";
import { useMoveTargets } from "./use-projects.tsx";

interface MoveDialogProps {
  read: WorkflowWithEtag;
  onClose: () => void;
}

export function MoveDialog({ read: { workflow, etag }, onClose }: MoveDialogProps) {
  useRestoreFocus();
  const client = useQueryClient();
  const targets = useMoveTargets(projectOf(workflow));
  const [project, setProject] = useState<string | null>(targets.length === 1 ? targets[0]!.id : null);
  const [force, setForce] = useState(false);
  const move = useSingleFlightMutation({
    mutationFn: (confirmed: readonly string[]) =>
      send("post", "/workflows/{workflow_id}/move", {
        path: { workflow_id: workflow.id },
        header: { "If-Match": etag, ...idempotencyHeader() },
        body: { project: project ?? "", break_callers: [...confirmed], ...(force && { force }) },
      }),
    onSuccess: ({ data: { unpublished } }) => {
      const name = targets.find(({ id }) => id === project)?.name ?? project ?? "";
      notifySuccess(texts.moved({ workflow: workflow.name, project: name }));
      if (unpublished !== undefined) notifyWarning(unpublished.detail);
      onClose();
    },
    onSettled: () => invalidateWorkflows(client),
  });
  const callers = useCallerConfirmation(move.error);
  const isNotRunnable = move.error instanceof ApiError && move.error.code === "workflow_not_runnable";
  return (
    <Modal opened onClose={onClose} title={texts.moveTitle({ workflow: workflow.name })} size="md">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          move.mutate([...callers.confirmed]);
        }}
      >
        <Stack>
          {callers.callers.length > 0 ? (
            <BrokenCallers confirmation={callers} refused={texts.notMoved} />
          ) : (
            move.isError && <ErrorAlert error={move.error} />
          )}
          <Text size="sm">{texts.moveHelp}</Text>
          <Select
            label={texts.project}
            required
            data={targets.map(({ id, name }) => ({ value: id, label: name }))}
            value={project}
            onChange={(value) => {
              setProject(value);
              setForce(false);
              move.reset();
            }}
            allowDeselect={false}
          />
          {(isNotRunnable || force) && (
            <Checkbox
              label={texts.moveAnyway}
              checked={force}
              onChange={(event) => setForce(event.currentTarget.checked)}
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {uiTexts.cancel}
            </Button>
            <Button type="submit" loading={move.isPending} disabled={project === null || !callers.isComplete}>
              {texts.move}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
