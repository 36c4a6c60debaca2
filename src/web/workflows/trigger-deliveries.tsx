/** The newest deliveries to the triggers of a workflow: what became of each, its body, and delivering it again. */
import { Anchor, Badge, Button, Group, Modal, Stack, Table, Text, Title } from "@mantine/core";
import { IconRepeat } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
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

const STATUS: Readonly<Record<TriggerDelivery["status"], string>> = {
  received: "Received",
  started: "Started a run",
  filtered: "Left out by if",
  failed: "Could not start a run",
  refused: "Refused",
};

export function TriggerDeliveries({ workflow }: { workflow: WorkflowWithDefinition }) {
  const query = useQuery(triggerDeliveriesQuery(workflow.id));
  const [shown, setShown] = useState<string>();
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        Recent deliveries
      </Title>
      <QueryContent query={query} skeleton={<LoadingSkeleton rows={3} />}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <Text size="sm" c="dimmed">
              Nothing was received yet.
            </Text>
          ) : (
            <Table.ScrollContainer minWidth={360} type="native">
              <Table verticalSpacing={6} horizontalSpacing="xs" aria-label="Recent deliveries">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Received</Table.Th>
                    <Table.Th visibleFrom="xs">Webhook</Table.Th>
                    <Table.Th>Outcome</Table.Th>
                    <Table.Th>Run</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {deliveries.map((delivery) => (
                    <Row key={delivery.id} delivery={delivery} onShow={() => setShown(delivery.id)} />
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </QueryContent>
      {shown !== undefined && (
        <DeliveryDialog id={shown} workflow={workflow} onClose={() => setShown(undefined)} />
      )}
    </Stack>
  );
}

function Row({ delivery, onShow }: { delivery: TriggerDelivery; onShow(): void }) {
  const { received_at: at, trigger, status, reason, repeats, run_id: run } = delivery;
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component="button" type="button" size="sm" onClick={onShow}>
          <Time at={at} ago />
        </Anchor>
      </Table.Td>
      <Table.Td visibleFrom="xs">{trigger}</Table.Td>
      <Table.Td>
        <Group gap={6}>
          <Text size="sm">{STATUS[status]}</Text>
          {repeats > 0 && (
            <Badge variant="default" tt="none" miw="max-content">
              {repeats === 1 ? "sent twice" : `sent ${repeats + 1} times`}
            </Badge>
          )}
        </Group>
        {reason !== null && (
          <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
            {reason}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{run === null ? "–" : <RunLink id={run} />}</Table.Td>
    </Table.Tr>
  );
}

interface DialogProps {
  id: string;
  workflow: WorkflowWithDefinition;
  onClose(): void;
}

function DeliveryDialog({ id, workflow, onClose }: DialogProps) {
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
      notifySuccess("Delivered again.");
      onClose();
      return client.invalidateQueries({ queryKey: triggerDeliveriesQuery(workflow.id).queryKey });
    },
    onError: (error) => notifyError("Could not deliver it again", error),
  });
  return (
    <Modal opened onClose={onClose} title="Delivery" size="lg">
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
        }) => (
          <Stack gap="sm">
            <Text size="sm">
              To {trigger}, <Time at={at} />
              {sender !== null && `, ${sender}`}. {STATUS[status]}.
            </Text>
            {reason !== null && <Text size="sm">{reason}</Text>}
            {hasBody ? (
              <>
                <Text size="sm" fw={600}>
                  Body
                </Text>
                <ScrollableValue label="Body">
                  <ValueView value={body} label="Body" />
                </ScrollableValue>
                <Text size="sm" fw={600}>
                  Headers
                </Text>
                <ScrollableValue label="Headers">
                  <ValueView value={headers} label="Headers" />
                </ScrollableValue>
              </>
            ) : (
              <Text size="sm" c="dimmed">
                The body is not stored: refused deliveries have none, and old ones lose it after 7 days.
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
                  Deliver again
                </Button>
              </Group>
            )}
          </Stack>
        )}
      </QueryContent>
    </Modal>
  );
}
