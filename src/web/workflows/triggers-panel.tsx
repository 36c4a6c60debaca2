/** The webhooks of a workflow: their URLs, what their senders must sign, and what they have received. */
import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { IconRefresh, IconShieldOff } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import * as texts from "#texts/workflows";
import type { TriggerState } from "../../../schemas/trigger-delivery.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { Snippet } from "../ui/copy.tsx";
import { codeTag } from "../ui/message-tags.tsx";
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
            <Text size="sm">{texts.webhooksGetUrls({ count: triggerIds(workflow.definition).length })}</Text>
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
    <Stack gap="xs" component="article" aria-label={texts.webhookLabel({ id })}>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Group gap="xs">
          <Text fw={600}>{id}</Text>
          {signature === null ? (
            <Badge variant="default" tt="none" leftSection={<IconShieldOff size={12} aria-hidden />}>
              {texts.notSigned}
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
          {texts.urlHidden}
        </Text>
      ) : (
        <Snippet text={url} label={texts.urlOf({ id })} />
      )}
      <Text size="sm" c="dimmed">
        {signature === null ? texts.unsignedHelp : signatureHelp(signature).text}{" "}
        {texts.startsVersion({ version, owner: trigger.owner })}
      </Text>
      {signature !== null && (
        <Text size="sm" c="dimmed">
          {texts.secretInConfiguration({
            names: [signature.secret].flat().join(", "),
            code: codeTag,
          })}
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
      notifySuccess(texts.urlReplaced({ id }));
      return client.invalidateQueries({ queryKey: triggersQuery(workflow).queryKey });
    },
    onError: (error) => notifyError(texts.replaceUrlFailed({ id }), error),
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
          title: texts.replaceUrlTitle({ id }),
          consequence: texts.replaceUrlHelp,
          confirm: texts.replaceUrl,
          onConfirm: () => rotate.mutate(),
        })
      }
    >
      {texts.replaceUrl}
    </Button>
  );
}
