/** The webhooks of a workflow: their URLs, what their senders must sign, and what they have received. */
import { Badge, Button, Code, Group, Stack, Text } from "@mantine/core";
import { IconRefresh, IconShieldOff } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { TriggerState } from "../../../schemas/trigger-delivery.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { Snippet } from "../ui/copy.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { LoadingSkeleton, QueryContent } from "../ui/page.tsx";
import { triggersQuery, versionQuery } from "./queries.ts";
import { signatureHelp } from "./signature-help.ts";
import { TriggerDeliveries } from "./trigger-deliveries.tsx";
import { triggerIds } from "./trigger-ids.ts";

/** Whether the version that runs, or the newest one, declares triggers. */
export function useHasTriggers({
  id,
  version,
  published_version: published,
  definition,
}: WorkflowWithDefinition): boolean {
  const isBehind = published !== null && published !== version;
  const { data } = useQuery({ ...versionQuery(id, published ?? version), enabled: isBehind });
  return triggerIds(definition).length > 0 || (isBehind && triggerIds(data?.definition ?? null).length > 0);
}

export function TriggersPanel({ workflow }: { workflow: WorkflowWithDefinition }) {
  const query = useQuery(triggersQuery(workflow.id));
  return (
    <QueryContent query={query} skeleton={<LoadingSkeleton rows={3} />}>
      {(triggers) => (
        <Stack gap="lg">
          {triggers.length === 0 ? (
            <Text size="sm">
              {triggerIds(workflow.definition).length === 1
                ? "The webhook gets its URL"
                : "The webhooks get their URLs"}{" "}
              when the workflow is published.
            </Text>
          ) : (
            triggers.map((trigger) => <Trigger key={trigger.id} trigger={trigger} workflow={workflow} />)
          )}
          <TriggerDeliveries workflow={workflow} />
        </Stack>
      )}
    </QueryContent>
  );
}

function Trigger({ trigger, workflow }: { trigger: TriggerState; workflow: WorkflowWithDefinition }) {
  const { id, url, signature, version } = trigger;
  const may = useHasScopeIn(workflow);
  return (
    <Stack gap="xs" component="article" aria-label={`Webhook ${id}`}>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Group gap="xs">
          <Text fw={600}>{id}</Text>
          {signature === null ? (
            <Badge variant="default" tt="none" leftSection={<IconShieldOff size={12} aria-hidden />}>
              Not signed
            </Badge>
          ) : (
            <Badge variant="default" tt="none">
              {signatureHelp(signature).name}
            </Badge>
          )}
        </Group>
        {may("publish") && <RotateButton trigger={trigger} />}
      </Group>
      {url === undefined ? (
        <Text size="sm" c="dimmed">
          Only those who may change the workflow see the URL.
        </Text>
      ) : (
        <Snippet text={url} label={`URL of ${id}`} />
      )}
      <Text size="sm" c="dimmed">
        {signature === null
          ? "Anybody who has the URL can start runs. Add a signature to the trigger if the sender can sign."
          : signatureHelp(signature).text}{" "}
        Starts runs of version {version}, in the name of {trigger.owner}.
      </Text>
      {signature !== null && (
        <Text size="sm" c="dimmed">
          Secret in the configuration: <Code>{[signature.secret].flat().join(", ")}</Code>
        </Text>
      )}
    </Stack>
  );
}

function RotateButton({ trigger: { id, workflow_id: workflow } }: { trigger: TriggerState }) {
  const client = useQueryClient();
  const rotate = useMutation({
    mutationFn: () =>
      send("post", "/workflows/{workflow_id}/triggers/{trigger}/rotate", {
        path: { workflow_id: workflow, trigger: id },
        header: idempotencyHeader(),
        body: {},
      }),
    onSuccess: () => {
      notifySuccess(`The webhook “${id}” has another URL. Give it to the sender.`);
      return client.invalidateQueries({ queryKey: triggersQuery(workflow).queryKey });
    },
    onError: (error) => notifyError(`Could not replace the URL of “${id}”`, error),
  });
  return (
    <Button
      size="xs"
      variant="default"
      style={{ flexShrink: 0 }}
      loading={rotate.isPending}
      leftSection={<IconRefresh size={14} aria-hidden />}
      onClick={() =>
        confirmAction({
          title: `Replace the URL of “${id}”?`,
          consequence:
            "The old URL is refused at once, until its senders have the new one. This can’t be undone.",
          confirm: "Replace URL",
          onConfirm: () => rotate.mutate(),
        })
      }
    >
      Replace URL
    </Button>
  );
}
