/** The page of what a key changed since a moment, with the revert. */
import {
  Alert,
  Anchor,
  Badge,
  Button,
  Card,
  Checkbox,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Text,
} from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link, useParams } from "react-router";
import { describeChange, notRevertible } from "../../../schemas/key-change-words.ts";
import type { ChangedWorkflow, KeyChanges, RevertOutcome } from "../../../schemas/key-changes.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { EmptyState, ErrorAlert, Page, QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { useFilters } from "../ui/use-filters.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";

const OUTCOMES: Readonly<Record<RevertOutcome, { color: string; label: string }>> = {
  revertible: { color: "blue", label: "can be reverted" },
  reverted: { color: "green", label: "reverted" },
  skipped: { color: "orange", label: "skipped" },
  unchanged: { color: "gray", label: "nothing to revert" },
};

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const HOUR = 3_600_000;
/** How long ago the changes begin that are shown, in milliseconds. */
const PERIODS = [
  { value: "1h", label: "Last hour", ms: HOUR },
  { value: "24h", label: "Last day", ms: 24 * HOUR },
  { value: "7d", label: "Last week", ms: 7 * 24 * HOUR },
] as const;
const DEFAULT_PERIOD = PERIODS[1];

export default function KeyChangesPage() {
  const { keyId } = useParams() as { keyId: string };
  const [params, setFilter] = useFilters();
  const period = PERIODS.find(({ value }) => value === params.get("since")) ?? DEFAULT_PERIOD;
  // The moment stays the same while the page is open: what is shown is what is reverted.
  const [openedAt] = useState(() => Date.now());
  const request = {
    since: new Date(openedAt - period.ms).toISOString(),
    ...(params.get("client") !== null && { client: params.get("client")! }),
    include_later: params.get("later") === "true",
  };
  const changes = useQuery({
    queryKey: ["key-changes", keyId, request],
    queryFn: async ({ signal }) =>
      (
        await send("get", "/api-keys/{key_id}/changes", {
          path: { key_id: keyId },
          query: request,
          signal,
        })
      ).data,
  });
  return (
    <Page
      title={
        changes.data === undefined ? "Changes by a key" : `Changes by the key "${changes.data.key.name}"`
      }
      about={
        <>
          What the key, with those that it was rotated to or from, changed.{" "}
          <Anchor component={Link} to="/keys" size="sm" underline="always">
            API Keys
          </Anchor>
        </>
      }
    >
      <Group align="flex-end">
        <SegmentedControl
          aria-label="Since"
          w={{ base: "100%", xs: "auto" }}
          data={PERIODS.map(({ value, label }) => ({ value, label }))}
          value={period.value}
          onChange={(value) => setFilter("since", value)}
        />
        <Select
          label="Program"
          placeholder="All programs"
          clearable
          clearButtonProps={{ "aria-label": "Clear program" }}
          data={[...new Set([...(changes.data?.clients ?? []), ...(request.client ? [request.client] : [])])]}
          value={request.client ?? null}
          onChange={(value) => setFilter("client", value ?? "")}
        />
        <Switch
          label="Include workflows that others changed later"
          checked={request.include_later}
          onChange={(event) => setFilter("later", event.currentTarget.checked ? "true" : "")}
          mb={6}
        />
      </Group>
      <QueryContent query={changes}>
        {(found) => <Changes key={JSON.stringify(request)} keyId={keyId} request={request} found={found} />}
      </QueryContent>
    </Page>
  );
}

interface ChangesProps {
  keyId: string;
  request: { since: string; client?: string; include_later: boolean };
  found: KeyChanges;
}

function Changes({ keyId, request, found }: ChangesProps) {
  const client = useQueryClient();
  const revertible = found.workflows.filter(({ outcome }) => outcome === "revertible");
  const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set());
  const [done, setDone] = useState<KeyChanges>();
  const chosen = revertible.map(({ workflow_id }) => workflow_id).filter((id) => !excluded.has(id));
  const revert = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/api-keys/{key_id}/changes/revert", {
        path: { key_id: keyId },
        body: { ...request, workflows: chosen },
        header: idempotencyHeader(),
      }),
    onSuccess: ({ data }) => {
      setDone(data);
      void client.invalidateQueries({ queryKey: ["workflows"] });
    },
  });
  const toggle = (id: string) =>
    setExcluded((current) => {
      const next = new Set(current);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  if (done !== undefined)
    return (
      <Result
        done={done}
        onClose={() => {
          setDone(undefined);
          setExcluded(new Set());
          void client.invalidateQueries({ queryKey: ["key-changes"] });
        }}
      />
    );
  return (
    <Stack>
      {revert.error && <ErrorAlert error={revert.error} />}
      <Notes found={found} />
      {found.workflows.length === 0 ? (
        <EmptyState title={found.already_reverted > 0 ? "Everything is reverted" : "No workflows changed"}>
          {found.already_reverted > 0
            ? `The changes of ${plural(found.already_reverted, "workflow")} are reverted already.`
            : "The key changed no workflow that you can see in this time."}
        </EmptyState>
      ) : (
        found.workflows.map((workflow) => (
          <WorkflowCard
            key={workflow.workflow_id}
            workflow={workflow}
            selection={
              workflow.outcome === "revertible" && (
                <Checkbox
                  aria-label={`Revert ${workflow.name}`}
                  checked={!excluded.has(workflow.workflow_id)}
                  onChange={() => toggle(workflow.workflow_id)}
                />
              )
            }
          />
        ))
      )}
      {revertible.length > 0 && (
        <Group justify="flex-end">
          <Button
            color="red"
            leftSection={<IconArrowBackUp size={16} aria-hidden />}
            disabled={chosen.length === 0}
            loading={revert.isPending}
            onClick={() =>
              confirmAction({
                title: `Revert ${plural(chosen.length, "workflow")}?`,
                consequence:
                  "Each gets back what it was before the key changed it, as a new version. Nothing of the history is lost. " +
                  "Runs that use the published versions are affected at once.",
                confirm: "Revert",
                onConfirm: () => revert.mutate(),
              })
            }
          >
            Revert {plural(chosen.length, "workflow")}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function Notes({ found }: { found: KeyChanges }) {
  const counted = notRevertible(found);
  return (
    <>
      {counted.length > 0 && (
        <Text size="sm" c="dimmed">
          Can&apos;t be reverted: {counted.join(", ")}.
        </Text>
      )}
      {found.attribution === "name" && (
        <Alert color="yellow" title="Some changes are matched by name">
          An older release recorded them without the key. They were made by {found.key.owner} with a key named
          &quot;{found.key.name}&quot;.
        </Alert>
      )}
      {found.records_since !== null && (
        <Alert color="yellow" title="The records are shorter">
          The audit log begins at <Time at={found.records_since} />. Earlier changes are not shown.
        </Alert>
      )}
      {found.remaining > 0 && (
        <Alert color="yellow" title={plural(found.remaining, "more workflow")}>
          Revert these first. The others are shown then.
        </Alert>
      )}
    </>
  );
}

function WorkflowCard({ workflow, selection }: { workflow: ChangedWorkflow; selection?: ReactNode }) {
  const { workflow_id: id, name, changes, outcome, effects, reason } = workflow;
  const { color, label } = OUTCOMES[outcome];
  return (
    <Card withBorder padding="sm">
      <Group align="flex-start" wrap="nowrap">
        {selection}
        <Stack gap={4} style={{ minWidth: 0, flex: 1 }}>
          <Group justify="space-between" gap="xs">
            <Anchor
              component={Link}
              to={`/workflows/${encodeURIComponent(id)}/versions`}
              fw={600}
              underline="always"
            >
              {name}
            </Anchor>
            <Badge
              variant="light"
              color={color}
              tt="none"
              styles={{ label: { color: "var(--mantine-color-text)" } }}
            >
              {label}
            </Badge>
          </Group>
          <Text size="sm" c="dimmed" component="div">
            {changes.map(describeChange).join(", ")} · <Time at={changes.at(-1)!.last_at} ago />
          </Text>
          {effects.map((effect) => (
            <Text size="sm" key={effect}>
              → {effect}
            </Text>
          ))}
          {reason !== null && <Text size="sm">{reason.message}</Text>}
        </Stack>
      </Group>
    </Card>
  );
}

function Result({ done, onClose }: { done: KeyChanges; onClose: () => void }) {
  const reverted = done.workflows.filter(({ outcome }) => outcome === "reverted");
  const isComplete = reverted.length === done.workflows.length;
  return (
    <Stack>
      <Alert
        role="status"
        color={isComplete ? "green" : "yellow"}
        title={`${plural(reverted.length, "workflow")} reverted`}
      >
        {isComplete
          ? "Everything that you chose is as it was before."
          : "Those that were skipped are unchanged. See why below."}
      </Alert>
      {done.workflows.map((workflow) => (
        <WorkflowCard key={workflow.workflow_id} workflow={workflow} />
      ))}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
