/** The newest deliveries to the triggers of a workflow: what became of each, its body, and delivering it again. */
import { Anchor, Badge, Button, Group, Modal, Stack, Table, Text, Title } from "@mantine/core";
import { IconRepeat } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment } from "react";
import { useSearchParams } from "react-router";
import * as texts from "#texts/workflows";
import type { TriggerDelivery } from "../../../schemas/trigger-delivery.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { RunLink } from "../runs/facts.tsx";
import { ScrollableValue } from "../runs/section.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { LoadingSkeleton, QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { ValueView } from "../values/value-view.tsx";
import { triggerDeliveriesQuery, triggerDeliveryQuery } from "./queries.ts";

export function TriggerDeliveries({ workflow }: { workflow: WorkflowWithDefinition }) {
  const query = useQuery(triggerDeliveriesQuery(workflow.id));
  // A run links to the delivery that started it.
  const [params, setParams] = useSearchParams();
  const shown = params.get("delivery");
  const setShown = (id: string | null): void =>
    setParams(
      (before) => {
        if (id === null) before.delete("delivery");
        else before.set("delivery", id);
        return before;
      },
      { replace: true, preventScrollReset: true },
    );
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {texts.recentDeliveries}
      </Title>
      <QueryContent query={query} skeleton={<LoadingSkeleton rows={3} />}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <Text size="sm" c="dimmed">
              {texts.noDeliveries}
            </Text>
          ) : (
            <Table verticalSpacing={6} horizontalSpacing="xs" aria-label={texts.recentDeliveries}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{texts.received}</Table.Th>
                  <Table.Th visibleFrom="xs">{texts.webhook}</Table.Th>
                  <Table.Th>{texts.outcome}</Table.Th>
                  <Table.Th visibleFrom="xs">{texts.run}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {deliveries.map((delivery) => (
                  <Row
                    key={delivery.id}
                    delivery={delivery}
                    // Newer than it, so on this page whenever it is.
                    again={deliveries.filter((other) => other.redelivery_of === delivery.id).length}
                    onShow={setShown}
                  />
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </QueryContent>
      {shown !== null && (
        <DeliveryDialog id={shown} workflow={workflow} onShow={setShown} onClose={() => setShown(null)} />
      )}
    </Stack>
  );
}

interface RowProps {
  delivery: TriggerDelivery;
  /** How often somebody delivered it again. */
  again: number;
  onShow(id: string): void;
}

function Row({ delivery, again, onShow }: RowProps) {
  const { id, received_at: at, trigger, status, reason, repeats, run_id: run } = delivery;
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component="button" type="button" size="sm" onClick={() => onShow(id)}>
          <Time at={at} ago />
        </Anchor>
        <Text size="xs" c="dimmed" hiddenFrom="xs">
          {trigger}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="xs">{trigger}</Table.Td>
      <Table.Td>
        <Group gap={6}>
          <Text size="sm">{texts.deliveryStatus({ status })}</Text>
          {repeats > 0 && (
            <Badge variant="default" tt="none" miw="max-content">
              {repeatsLabel(delivery)}
            </Badge>
          )}
          {again > 0 && (
            <Badge variant="default" tt="none" miw="max-content">
              {texts.deliveredAgainTimes({ count: again })}
            </Badge>
          )}
        </Group>
        {run !== null && (
          <Text size="sm" hiddenFrom="xs" style={{ overflowWrap: "anywhere" }}>
            <RunLink id={run} />
          </Text>
        )}
        {delivery.redelivery_of !== null && (
          <Text size="xs" c="dimmed">
            {texts.redeliveryOf({ delivery: <DeliveryLink id={delivery.redelivery_of} onShow={onShow} /> })}
          </Text>
        )}
        {reason !== null && (
          <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
            <Reason text={reason} onShow={onShow} />
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="xs">{run === null ? "–" : <RunLink id={run} />}</Table.Td>
    </Table.Tr>
  );
}

const repeatsLabel = ({ status, repeats }: TriggerDelivery): string =>
  status === "refused" ? texts.moreLikeIt({ count: repeats }) : texts.sentTimes({ count: repeats + 1 });

/** Shows another delivery. */
const DeliveryLink = ({ id, onShow }: { id: string; onShow(id: string): void }) => (
  <Anchor component="button" type="button" inherit underline="always" onClick={() => onShow(id)}>
    {id}
  </Anchor>
);

/** A reason, with links to the deliveries that it names. */
function Reason({ text, onShow }: { text: string; onShow(id: string): void }) {
  const parts = text.split(/\b(trd_[\w-]+)/);
  return parts.map((part, index) =>
    index % 2 === 1 ? <DeliveryLink key={part + String(index)} id={part} onShow={onShow} /> : part,
  );
}

interface DialogProps {
  id: string;
  workflow: WorkflowWithDefinition;
  onShow(id: string): void;
  onClose(): void;
}

function DeliveryDialog({ id, workflow, onShow, onClose }: DialogProps) {
  const query = useQuery(triggerDeliveryQuery(workflow.id, id));
  const may = useHasScopeIn(workflow);
  const client = useQueryClient();
  const redeliver = useMutation({
    mutationFn: () =>
      send("post", "/workflows/{workflow_id}/deliveries/{delivery_id}/redeliver", {
        path: { workflow_id: workflow.id, delivery_id: id },
        header: idempotencyHeader(),
        body: {},
      }),
    onSuccess: () => {
      notifySuccess(texts.deliveredAgain);
      onClose();
      return client.invalidateQueries({ queryKey: triggerDeliveriesQuery(workflow.id).queryKey });
    },
    onError: (error) => notifyError(texts.redeliverFailed, error),
  });
  return (
    <Modal opened onClose={onClose} title={texts.delivery} size="lg">
      <QueryContent query={query} skeleton={<LoadingSkeleton rows={6} />}>
        {({
          received_at: at,
          trigger,
          status,
          reason,
          sender_id: sender,
          body,
          headers,
          has_body: hasBody,
          redelivery_of: first,
          redeliveries,
        }) => (
          <Stack gap="sm">
            <Text size="sm">
              {sender === null
                ? texts.deliveryFacts({
                    trigger,
                    time: <Time at={at} />,
                    outcome: texts.deliveryStatus({ status }),
                  })
                : texts.deliveryFactsSender({
                    trigger,
                    time: <Time at={at} />,
                    sender,
                    outcome: texts.deliveryStatus({ status }),
                  })}
            </Text>
            {first !== null && (
              <Text size="sm">
                {texts.redeliveryOf({ delivery: <DeliveryLink id={first} onShow={onShow} /> })}
              </Text>
            )}
            {redeliveries.length > 0 && (
              <Text size="sm">
                {texts.deliveredAgainAs({
                  deliveries: redeliveries.map((again, index) => (
                    <Fragment key={again}>
                      {index > 0 && ", "}
                      <DeliveryLink id={again} onShow={onShow} />
                    </Fragment>
                  )),
                })}
              </Text>
            )}
            {reason !== null && (
              <Text size="sm">
                <Reason text={reason} onShow={onShow} />
              </Text>
            )}
            {hasBody ? (
              <>
                <Text size="sm" fw={600}>
                  {texts.body}
                </Text>
                <ScrollableValue label={texts.body}>
                  <ValueView value={body} label={texts.body} />
                </ScrollableValue>
                <Text size="sm" fw={600}>
                  {texts.headers}
                </Text>
                <ScrollableValue label={texts.headers}>
                  <ValueView value={headers} label={texts.headers} />
                </ScrollableValue>
              </>
            ) : (
              <Text size="sm" c="dimmed">
                {texts.bodyNotStored}
              </Text>
            )}
            {hasBody && may("publish") && (
              <Group justify="flex-end">
                <Button
                  variant="default"
                  loading={redeliver.isPending}
                  leftSection={<IconRepeat size={16} aria-hidden />}
                  onClick={() => redeliver.mutate()}
                >
                  {texts.deliverAgain}
                </Button>
              </Group>
            )}
          </Stack>
        )}
      </QueryContent>
    </Modal>
  );
}
