/** Offers to save the changed definition of a retry that succeeded, which otherwise stays with that run. */
import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { IconDeviceFloppy } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import * as texts from "#texts/runs";
import { send } from "../api/client.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { invalidateWorkflows, readWorkflow, type WorkflowWithEtag } from "../workflows/queries.ts";
import type { LiveRun } from "./live-updates.ts";
import { definitionQuery } from "./queries.ts";
import { runName } from "./run-name.ts";

export function KeepChanges({ run }: { run: LiveRun }) {
  const may = useHasScopeIn(run);
  const client = useQueryClient();
  const [saved, setSaved] = useState<number>();
  const workflowId = run.workflow_id ?? "";
  const save = useSingleFlightMutation({
    mutationFn: async ({ workflow, etag }: WorkflowWithEtag) =>
      send("patch", "/workflows/{workflow_id}", {
        path: { workflow_id: workflow.id },
        header: { "If-Match": etag },
        body: {
          definition: await client.fetchQuery(definitionQuery(run.id)),
          reason: `Saved from run ${run.id}`,
        },
      }),
    onSuccess: ({ data }) => {
      setSaved(data.version);
      notifySuccess(texts.savedAsVersion({ version: data.version, name: data.name }));
    },
    onError: (error) => notifyError(texts.saveDefinitionFailed, error),
    onSettled: () => invalidateWorkflows(client),
  });
  /** Asks first where the workflow has changed since the version that the run started from. */
  const start = (): void => {
    readWorkflow(workflowId).then(
      (read) => {
        const { version, name } = read.workflow;
        if (version === run.version) return save.mutate(read);
        return confirmAction({
          title: texts.replaceNewest({ name }),
          consequence: texts.replaceNewestHelp({ base: run.version ?? "", newest: version }),
          confirm: texts.saveAnyway,
          onConfirm: () => save.mutate(read),
        });
      },
      (error: unknown) => notifyError(texts.loadWorkflowFailed, error),
    );
  };
  if (!may("write")) return null;
  return (
    <Alert color="blue" icon={<IconDeviceFloppy aria-hidden />} title={texts.definitionWorks} role="note">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {saved === undefined
            ? texts.definitionWorksHelp({ name: runName(run) })
            : texts.savedHelp({ version: saved })}
        </Text>
        <Group gap="sm">
          {saved === undefined ? (
            <Button size="xs" onClick={start} loading={save.isPending}>
              {texts.saveNewVersion}
            </Button>
          ) : (
            <Anchor component={Link} to={`/workflows/${workflowId}`} size="sm">
              {texts.openNamed({ name: runName(run) })}
            </Anchor>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}
