/** A subscription: what it delivers, where to, and how that goes. */
import { Badge, Button, Card, Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Subscription } from "../../../schemas/subscription.ts";
import { send } from "../api/client.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
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
  const filters = [
    ...(workflows === null ? [] : [`workflows ${workflows.join(", ")}`]),
    ...(tags === null ? [] : [`tags ${tags.join(", ")}`]),
  ];
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
          {FORMAT_LABELS[format]} · {url ?? `the URL in the secret ${secret}`}
        </Text>
        <Text size="sm">
          {events.map(eventLabel).join(" · ")}
          {filters.length > 0 && ` (only ${filters.join("; ")})`}
        </Text>
        {subscription.pause_reason !== null && <Text size="sm">{subscription.pause_reason}</Text>}
        {subscription.values_withheld !== null && (
          <Text size="sm">{subscription.values_withheld} Saving it with Edit confirms it.</Text>
        )}
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
    ...(pending > 0 ? [`${pending} pending`] : []),
    ...(failed > 0 ? [`${failed} given up`] : []),
  ];
  return (
    <>
      <Badge variant="default" tt="none" fw={500}>
        {paused !== null ? "paused" : failing !== null ? "failing" : "active"}
      </Badge>
      <Text size="xs" c="dimmed" component="span">
        {counts.map((text) => `${text} · `)}
        {failing !== null ? (
          <>
            failing since <Time at={failing} ago />
          </>
        ) : succeeded !== null ? (
          <>
            last delivered <Time at={succeeded} ago />
          </>
        ) : (
          "nothing delivered yet"
        )}
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
    onSuccess: () => notifySuccess("The test event is on its way. Its delivery shows what became of it."),
    ...shared("Couldn't send a test event"),
  });
  const pause = useSingleFlightMutation({
    mutationFn: () =>
      send("patch", "/subscriptions/{subscription_id}", { path, body: { paused: paused === null } }),
    ...shared("Couldn't change the subscription"),
  });
  const rotate = useSingleFlightMutation({
    mutationFn: () => send("post", "/subscriptions/{subscription_id}/rotate", { path, body: {} }),
    onSuccess: ({ data }) => onSecret(data),
    ...shared("Couldn't replace the secret"),
  });
  const remove = useSingleFlightMutation({
    mutationFn: () => send("delete", "/subscriptions/{subscription_id}", { path }),
    onSuccess: () => notifySuccess(`Deleted “${name}”.`),
    ...shared("Couldn't delete the subscription"),
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
      {button("Send test", () => test.mutate(), test.isPending, paused !== null)}
      {button("Edit", () => setIsEditing(true), false)}
      {isEditing && <SubscriptionDialog subscription={subscription} onClose={() => setIsEditing(false)} />}
      {button(paused === null ? "Pause" : "Resume", () => pause.mutate(), pause.isPending)}
      {format === "standard_webhooks" &&
        button(
          "New secret",
          () =>
            confirmAction({
              title: `Replace the signing secret of “${name}”?`,
              consequence:
                "For 24 hours deliveries carry signatures of both, so that the receiver can change in between.",
              confirm: "Replace",
              onConfirm: () => rotate.mutate(),
            }),
          rotate.isPending,
        )}
      {button(
        "Delete",
        () =>
          confirmAction({
            title: `Delete “${name}”?`,
            consequence: "Its deliveries go with it, also those that are pending. This can't be undone.",
            confirm: "Delete",
            onConfirm: () => remove.mutate(),
          }),
        remove.isPending,
      )}
    </Group>
  );
}
