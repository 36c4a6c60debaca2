/** A subscription: what it delivers, where to, and how that goes. */
import { Button, Card, Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/notifications";
import type { Subscription } from "../../../schemas/subscription.ts";
import { send } from "../api/client.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { eventLabel, FORMAT_LABELS } from "./labels.ts";
import type { Created } from "./notifications.tsx";
import { SubscriptionDialog } from "./subscription-dialog.tsx";

export function SubscriptionCard({
  subscription,
  onSecret,
}: {
  subscription: Subscription;
  onSecret: (created: Created) => void;
}) {
  const { name, format, url, url_secret: secret, events, workflows, tags, project } = subscription;
  const filter =
    workflows === null ? (tags === null ? "none" : "tags") : tags === null ? "workflows" : "both";
  return (
    <Card withBorder padding="md">
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <Group gap="xs" style={{ minWidth: 0 }}>
            <Text fw={600} style={{ overflowWrap: "anywhere" }}>
              {name}
            </Text>
            <ProjectBadge project={project} inList />
            <Health subscription={subscription} />
          </Group>
          <Actions subscription={subscription} onSecret={onSecret} />
        </Group>
        <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {FORMAT_LABELS[format]} · {url ?? texts.urlInSecret({ secret: String(secret) })}
        </Text>
        <Text size="sm">
          {texts.eventsOf({
            events: events.map(eventLabel).join(" · "),
            filter,
            workflows: (workflows ?? []).join(", "),
            tags: (tags ?? []).join(", "),
          })}
        </Text>
        {subscription.pause_reason !== null && <Text size="sm">{subscription.pause_reason}</Text>}
      </Stack>
    </Card>
  );
}

/** Words with the colour, so that no state is only a colour. */
function Health({ subscription }: { subscription: Subscription }) {
  const {
    paused_at: paused,
    failing_since: failing,
    succeeded_at: succeeded,
    pending,
    failed,
  } = subscription;
  const counts = [
    ...(pending > 0 ? [texts.pendingCount({ count: pending })] : []),
    ...(failed > 0 ? [texts.givenUpCount({ count: failed })] : []),
  ];
  return (
    <>
      {paused !== null ? (
        <StatusBadge status="waiting" label={texts.paused} />
      ) : failing !== null ? (
        <StatusBadge status="failed" label={texts.failing} />
      ) : (
        <StatusBadge status="succeeded" label={texts.active} />
      )}
      <Text size="xs" c="dimmed" component="span">
        {counts.map((text) => `${text} · `)}
        {failing !== null
          ? texts.failingSince({ time: <Time at={failing} ago /> })
          : succeeded !== null
            ? texts.lastDelivered({ time: <Time at={succeeded} ago /> })
            : texts.nothingDelivered}
      </Text>
    </>
  );
}

function Actions({
  subscription,
  onSecret,
}: {
  subscription: Subscription;
  onSecret: (created: Created) => void;
}) {
  const { id, name, paused_at: paused, format } = subscription;
  const [isEditing, setIsEditing] = useState(false);
  const client = useQueryClient();
  const path = { subscription_id: id };
  const shared = (failure: string) => ({
    onError: (error: Error) => notifyError(failure, error),
    onSettled: () => client.invalidateQueries({ queryKey: ["subscriptions"] }),
  });
  const test = useSingleFlightMutation({
    mutationFn: () => send("post", "/subscriptions/{subscription_id}/test", { path, body: {} }),
    onSuccess: () => notifySuccess(texts.testSent),
    ...shared(texts.testFailed),
  });
  const pause = useSingleFlightMutation({
    mutationFn: () =>
      send("patch", "/subscriptions/{subscription_id}", { path, body: { paused: paused === null } }),
    ...shared(texts.changeFailed),
  });
  const rotate = useSingleFlightMutation({
    mutationFn: () => send("post", "/subscriptions/{subscription_id}/rotate", { path, body: {} }),
    onSuccess: ({ data }) => onSecret(data),
    ...shared(texts.replaceFailed),
  });
  const remove = useSingleFlightMutation({
    mutationFn: () => send("delete", "/subscriptions/{subscription_id}", { path }),
    onSuccess: () => notifySuccess(texts.deleted({ name })),
    ...shared(texts.deleteFailed),
  });
  const button = (label: string, work: () => void, isLoading: boolean, disabled = false) => (
    <Button
      variant="default"
      size="xs"
      aria-label={`${label}: ${name}`}
      loading={isLoading}
      disabled={disabled}
      onClick={work}
    >
      {label}
    </Button>
  );
  return (
    <Group gap={6}>
      {button(texts.sendTest, () => test.mutate(), test.isPending, paused !== null)}
      {button(texts.edit, () => setIsEditing(true), false)}
      {isEditing && <SubscriptionDialog subscription={subscription} onClose={() => setIsEditing(false)} />}
      {button(paused === null ? texts.pause : texts.resume, () => pause.mutate(), pause.isPending)}
      {format === "standard_webhooks" &&
        button(
          texts.newSecret,
          () =>
            confirmAction({
              title: texts.replaceTitle({ name }),
              consequence: texts.replaceConsequence,
              confirm: texts.replace,
              onConfirm: () => rotate.mutate(),
            }),
          rotate.isPending,
        )}
      {button(
        texts.deleteButton,
        () =>
          confirmAction({
            title: texts.deleteTitle({ name }),
            consequence: texts.deleteConsequence,
            confirm: texts.deleteButton,
            onConfirm: () => remove.mutate(),
          }),
        remove.isPending,
      )}
    </Group>
  );
}
