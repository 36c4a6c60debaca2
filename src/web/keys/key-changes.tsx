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
import * as texts from "#texts/keys";
import type { ChangedWorkflow, KeyChanges, RevertOutcome } from "../../../schemas/key-changes.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { EmptyState, ErrorAlert, Page, QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { useFilters } from "../ui/use-filters.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";

const OUTCOME_COLORS: Readonly<Record<RevertOutcome, string>> = {
  revertible: "blue",
  reverted: "green",
  skipped: "orange",
  unchanged: "gray",
};

const HOUR = 3_600_000;
/** How long ago the changes begin that are shown, in milliseconds. */
const PERIODS = [
  { value: "1h", label: texts.lastHour, ms: HOUR },
  { value: "24h", label: texts.lastDayPeriod, ms: 24 * HOUR },
  { value: "7d", label: texts.lastWeek, ms: 7 * 24 * HOUR },
] as const;
const DEFAULT_PERIOD = PERIODS[1];

const linkToKeys = (text: ReactNode): ReactNode => (
  <Anchor component={Link} to="/keys" size="sm" underline="always">
    {text}
  </Anchor>
);

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
        changes.data === undefined
          ? texts.changesTitle
          : texts.changesTitleOf({ name: changes.data.key.name })
      }
      about={texts.changesAbout({ link: linkToKeys })}
    >
      <Group align="flex-end">
        <SegmentedControl
          aria-label={texts.since}
          w={{ base: "100%", xs: "auto" }}
          data={PERIODS.map(({ value, label }) => ({ value, label }))}
          value={period.value}
          onChange={(value) => setFilter("since", value)}
        />
        <Select
          label={texts.program}
          placeholder={texts.allPrograms}
          clearable
          clearButtonProps={{ "aria-label": texts.clearProgram }}
          data={[...new Set([...(changes.data?.clients ?? []), ...(request.client ? [request.client] : [])])]}
          value={request.client ?? null}
          onChange={(value) => setFilter("client", value ?? "")}
        />
        <Switch
          label={texts.includeLater}
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
        <EmptyState title={found.already_reverted > 0 ? texts.everythingReverted : texts.noWorkflowsChanged}>
          {found.already_reverted > 0
            ? texts.alreadyReverted({ count: found.already_reverted })
            : texts.noWorkflowsHelp}
        </EmptyState>
      ) : (
        found.workflows.map((workflow) => (
          <WorkflowCard
            key={workflow.workflow_id}
            workflow={workflow}
            selection={
              workflow.outcome === "revertible" && (
                <Checkbox
                  aria-label={texts.revertOne({ name: workflow.name })}
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
                title: texts.revertTitle({ count: chosen.length }),
                consequence: texts.revertConsequence,
                confirm: texts.revertConfirm,
                onConfirm: () => revert.mutate(),
              })
            }
          >
            {texts.revert({ count: chosen.length })}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** What can't be reverted, in the order of the page. */
const NOT_REVERTIBLE = [
  "runs_started",
  "runs_retried",
  "runs_cancelled",
  "approvals_decided",
  "states_set",
] as const satisfies readonly (keyof KeyChanges["not_revertible"])[];

function Notes({ found }: { found: KeyChanges }) {
  const counted = NOT_REVERTIBLE.flatMap((kind) => {
    const count = found.not_revertible[kind];
    return count > 0 ? [texts.notRevertible({ kind, count })] : [];
  });
  return (
    <>
      {counted.length > 0 && (
        <Text size="sm" c="dimmed">
          {texts.cantRevert({ list: counted.join(", ") })}
        </Text>
      )}
      {found.attribution === "name" && (
        <Alert color="yellow" title={texts.matchedByName}>
          {texts.matchedByNameHelp({ owner: found.key.owner, name: found.key.name })}
        </Alert>
      )}
      {found.records_since !== null && (
        <Alert color="yellow" title={texts.recordsShorter}>
          {texts.recordsSince({ time: <Time at={found.records_since} /> })}
        </Alert>
      )}
      {found.remaining > 0 && (
        <Alert color="yellow" title={texts.remaining({ count: found.remaining })}>
          {texts.remainingHelp}
        </Alert>
      )}
    </>
  );
}

/** Such as `edited versions 4–6` or `schedule paused twice`. */
function changeText({ change, count, from, to }: ChangedWorkflow["changes"][number]): string {
  const version = String(to);
  if (change !== "edited") return texts.change({ change, count, version });
  const first = (from ?? 0) + 1;
  return first === to ? texts.editedVersion({ version }) : texts.editedVersions({ from: first, to: version });
}

function WorkflowCard({ workflow, selection }: { workflow: ChangedWorkflow; selection?: ReactNode }) {
  const { workflow_id: id, name, changes, outcome, effects, reason } = workflow;
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
              color={OUTCOME_COLORS[outcome]}
              tt="none"
              styles={{ label: { color: "var(--mantine-color-text)" } }}
            >
              {texts.outcome({ outcome })}
            </Badge>
          </Group>
          <Text size="sm" c="dimmed" component="div">
            {changes.map(changeText).join(", ")} · <Time at={changes.at(-1)!.last_at} ago />
          </Text>
          {effects.map((effect) => (
            <Text size="sm" key={effect}>
              <span className="arrow">→</span> {effect}
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
        title={texts.reverted({ count: reverted.length })}
      >
        {isComplete ? texts.revertedAll : texts.revertedSome}
      </Alert>
      {done.workflows.map((workflow) => (
        <WorkflowCard key={workflow.workflow_id} workflow={workflow} />
      ))}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {texts.done}
        </Button>
      </Group>
    </Stack>
  );
}
