/** Deliveries, newest first: their response, the next attempt, and a button to send one again. */
import { Anchor, Badge, Button, Card, Group, Select, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import type { Delivery, DeliveryState, Subscription } from "../../../schemas/subscription.ts";
import { send } from "../api/client.ts";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { EmptyState } from "../ui/page.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { Time } from "../ui/time.tsx";
import { useFilters } from "../ui/use-filters.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { WorkflowName } from "../workflows/names.tsx";
import { eventLabel } from "./labels.ts";
import { deliveriesQuery } from "./queries.ts";

const STATE_LABELS: Readonly<Record<DeliveryState, string>> = {
  pending: "pending",
  delivered: "delivered",
  failed: "given up",
};

export function Deliveries({
  subscriptions,
  project,
}: {
  subscriptions: readonly Subscription[];
  project: { project?: string };
}) {
  const [params, setFilter] = useFilters();
  const state = (Object.keys(STATE_LABELS) as DeliveryState[]).find((one) => one === params.get("state"));
  const chosen = subscriptions.find(({ id }) => id === params.get("subscription"))?.id;
  const query = useInfiniteQuery(
    deliveriesQuery({
      ...project,
      ...(state !== undefined && { state }),
      ...(chosen !== undefined && { subscription_id: chosen }),
    }),
  );
  const nameOf = (id: string): string => subscriptions.find((one) => one.id === id)?.name ?? id;
  return (
    <Stack gap="sm">
      <Group align="flex-end">
        <Select
          label="State"
          placeholder="All states"
          clearable
          clearButtonProps={{ "aria-label": "Clear state" }}
          data={Object.entries(STATE_LABELS).map(([value, label]) => ({ value, label }))}
          value={state ?? null}
          onChange={(value) => setFilter("state", value ?? "")}
        />
        <Select
          label="Subscription"
          placeholder="All subscriptions"
          clearable
          clearButtonProps={{ "aria-label": "Clear subscription" }}
          data={subscriptions.map(({ id, name }) => ({ value: id, label: name }))}
          value={chosen ?? null}
          onChange={(value) => setFilter("subscription", value ?? "")}
        />
      </Group>
      <PagedList
        query={query}
        empty={<EmptyState title="No deliveries">They appear when something happens.</EmptyState>}
      >
        {(deliveries) => (
          <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-label="Deliveries">
            {deliveries.map((delivery) => (
              <li key={delivery.id}>
                <DeliveryRow delivery={delivery} to={nameOf(delivery.subscription_id)} />
              </li>
            ))}
          </Stack>
        )}
      </PagedList>
    </Stack>
  );
}

function DeliveryRow({ delivery, to }: { delivery: Delivery; to: string }) {
  const {
    id,
    event,
    state,
    attempts,
    status,
    error,
    next_at: next,
    created_at: created,
    response,
  } = delivery;
  const client = useQueryClient();
  const again = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/deliveries/{delivery_id}/redeliver", { path: { delivery_id: id }, body: {} }),
    onSuccess: () => notifySuccess("It is sent again, with the same id."),
    onError: (failure) => notifyError("Couldn't send it again", failure),
    onSettled: () => client.invalidateQueries({ queryKey: ["subscriptions"] }),
  });
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" gap="xs" align="flex-start">
        <Stack gap={2} style={{ minWidth: 0 }} flex="1 1 300px">
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {eventLabel(event)}
            </Text>
            <Badge variant="default" tt="none" fw={500}>
              {STATE_LABELS[state]}
            </Badge>
            <About delivery={delivery} />
          </Group>
          <Text size="xs" c="dimmed" component="div">
            {to} · <Time at={created} ago /> · {attempts === 1 ? "1 attempt" : `${attempts} attempts`}
            {status !== null && ` · status ${status}`}
            {next !== null && attempts > 0 && (
              <>
                {" "}
                · next attempt <Time at={next} ago />
              </>
            )}
          </Text>
          {error !== null && (
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              {error}
            </Text>
          )}
          {response !== null && response !== "" && (
            <Text size="xs" c="dimmed" ff="monospace" lineClamp={3} style={{ overflowWrap: "anywhere" }}>
              {response}
            </Text>
          )}
        </Stack>
        {state !== "pending" && (
          <Button
            variant="default"
            size="xs"
            aria-label={`Send again: ${eventLabel(event)}, ${id}`}
            loading={again.isPending}
            onClick={() => again.mutate()}
          >
            Send again
          </Button>
        )}
      </Group>
    </Card>
  );
}

/** The run or the workflow that the event is about. */
function About({ delivery: { run_id: run, workflow_id: workflow } }: { delivery: Delivery }) {
  const link = run === null ? workflow && `/workflows/${workflow}` : `/runs/${run}`;
  if (link === null || link === "") return null;
  return (
    <Anchor component={Link} to={link} size="sm" style={{ overflowWrap: "anywhere" }}>
      {workflow === null ? run : <WorkflowName id={workflow} />}
    </Anchor>
  );
}
