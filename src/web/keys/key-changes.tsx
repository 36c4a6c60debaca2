/** The page of what a key changed since a moment, with the revert. */
import { Alert, Anchor, Button, Group, SegmentedControl, Select, Stack, Switch } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { countReverted, describeCounts, isNothing } from "../../../schemas/key-change-words.ts";
import type { KeyChanges } from "../../../schemas/key-changes.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { pluralize } from "../runs/labels.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { EmptyState, ErrorAlert, Page, QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { useFilters } from "../ui/use-filters.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { Changed } from "./change-cards.tsx";

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
          What the key, with those that it was rotated to or from, did.{" "}
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
  const revertible = {
    workflows: found.workflows.flatMap((one) => (one.outcome === "revertible" ? [one.workflow_id] : [])),
    subscriptions: found.subscriptions.flatMap((one) =>
      one.outcome === "revertible" ? [one.subscription_id] : [],
    ),
  };
  const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set());
  const [done, setDone] = useState<KeyChanges>();
  const chosen = {
    workflows: revertible.workflows.filter((id) => !excluded.has(id)),
    subscriptions: revertible.subscriptions.filter((id) => !excluded.has(id)),
  };
  const countOf = ({ workflows, subscriptions }: typeof chosen): string =>
    describeCounts({ workflows: workflows.length, subscriptions: subscriptions.length });
  const isNone = ({ workflows, subscriptions }: typeof chosen): boolean =>
    workflows.length + subscriptions.length === 0;
  const revert = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/api-keys/{key_id}/changes/revert", {
        path: { key_id: keyId },
        body: {
          ...request,
          ...(chosen.workflows.length > 0 && { workflows: chosen.workflows }),
          ...(chosen.subscriptions.length > 0 && { subscriptions: chosen.subscriptions }),
        },
        header: idempotencyHeader(),
      }),
    onSuccess: ({ data }) => {
      setDone(data);
      void client.invalidateQueries({ queryKey: ["workflows"] });
      void client.invalidateQueries({ queryKey: ["subscriptions"] });
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
      {isNothing(found) ? (
        <EmptyState title="No changes on record">
          No record says that the key changed anything in this time. Of states of workflows, only changes by
          runs that are still kept are on record.
        </EmptyState>
      ) : (
        <Changed found={found} selection={{ excluded, toggle }} />
      )}
      {!isNone(revertible) && (
        <Group justify="flex-end">
          <Button
            color="red"
            leftSection={<IconArrowBackUp size={16} aria-hidden />}
            disabled={isNone(chosen)}
            loading={revert.isPending}
            onClick={() =>
              confirmAction({
                title: `Revert ${countOf(chosen)}?`,
                consequence:
                  "Each workflow gets back what it was before the key changed it, as a new version. Nothing of the history is " +
                  "lost. Runs that use the published versions are affected at once. Subscriptions that the key created are deleted.",
                confirm: "Revert",
                onConfirm: () => revert.mutate(),
              })
            }
          >
            Revert {countOf(chosen)}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function Notes({ found }: { found: KeyChanges }) {
  return (
    <>
      {found.unseen > 0 && (
        <Alert
          color="yellow"
          title={`${pluralize(found.unseen, "more change")} in projects that you can't see`}
        >
          Ask an admin to look at them.
        </Alert>
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
        <Alert color="yellow" title={`${found.remaining} more`}>
          Revert these first. The others are shown then.
        </Alert>
      )}
    </>
  );
}

function Result({ done, onClose }: { done: KeyChanges; onClose: () => void }) {
  const counts = {
    workflows: countReverted(done.workflows),
    subscriptions: countReverted(done.subscriptions),
  };
  const isComplete = [...done.workflows, ...done.subscriptions].every(({ outcome }) => outcome !== "skipped");
  return (
    <Stack>
      <Alert
        role="status"
        color={isComplete ? "green" : "yellow"}
        title={`${describeCounts(counts)} reverted`}
      >
        {isComplete
          ? "Everything that you chose is as it was before."
          : "Those that were skipped are unchanged. See why below."}
      </Alert>
      <Changed found={done} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
