/** Deliveries, newest first: their response, the next attempt, and a button to send one again. */
import { Anchor, Button, Card, Group, Select, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import * as texts from "#texts/notifications";
import type { Delivery, DeliveryState, Subscription } from "../../../schemas/subscription.ts";
import { send } from "../api/client.ts";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { EmptyState } from "../ui/page.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { useFilters } from "../ui/use-filters.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { eventLabel } from "./labels.ts";
import { deliveriesQuery } from "./queries.ts";

/** The status of a run whose colour a state has. */
const STATE_COLORS = {
  pending: "pending",
  delivered: "succeeded",
  failed: "failed",
} as const satisfies Record<DeliveryState, unknown>;
const STATES = Object.keys(STATE_COLORS) as DeliveryState[];

export function Deliveries({
  subscriptions,
  project,
}: {
  subscriptions: readonly Subscription[];
  project: { project?: string };
}) {
  const [params, setFilter] = useFilters();
  const state = STATES.find((one) => one === params.get("state"));
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
          label={texts.state}
          placeholder={texts.allStates}
          clearable
          clearButtonProps={{ "aria-label": texts.clearState }}
          data={STATES.map((value) => ({ value, label: texts.deliveryState({ state: value }) }))}
          value={state ?? null}
          onChange={(value) => setFilter("state", value ?? "")}
        />
        <Select
          label={texts.subscription}
          placeholder={texts.allSubscriptions}
          clearable
          clearButtonProps={{ "aria-label": texts.clearSubscription }}
          data={subscriptions.map(({ id, name }) => ({ value: id, label: name }))}
          value={chosen ?? null}
          onChange={(value) => setFilter("subscription", value ?? "")}
        />
      </Group>
      <PagedList
        query={query}
        empty={<EmptyState title={texts.noDeliveries}>{texts.noDeliveriesHelp}</EmptyState>}
      >
        {(deliveries) => (
          <Stack
            gap="xs"
            component="ul"
            m={0}
            p={0}
            style={{ listStyle: "none" }}
            aria-label={texts.deliveries}
          >
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
    onSuccess: () => notifySuccess(texts.sentAgain),
    onError: (failure) => notifyError(texts.sendAgainFailed, failure),
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
            <StatusBadge status={STATE_COLORS[state]} label={texts.deliveryState({ state })} />
            <About delivery={delivery} />
          </Group>
          <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: "anywhere" }}>
            {to} · <Time at={created} ago /> · {texts.attempts({ count: attempts })}
            {status !== null && ` · ${texts.httpStatus({ status })}`}
            {next !== null && attempts > 0 && <> · {texts.nextAttempt({ time: <Time at={next} ago /> })}</>}
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
            aria-label={texts.sendAgainEvent({ event: eventLabel(event), id })}
            loading={again.isPending}
            onClick={() => again.mutate()}
          >
            {texts.sendAgain}
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
      {workflow ?? run}
    </Anchor>
  );
}
