/** The page of a bulk action: what it does, how far it is, the plan that was confirmed, and its runs. */
import { Alert, Anchor, Code, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import type { BulkAction } from "../../../schemas/bulk-action.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { Fact, Facts } from "../runs/facts.tsx";
import { RUN_STATUSES } from "../runs/filters.ts";
import { Section } from "../runs/section.tsx";
import { NotFound, Page, QueryContent } from "../ui/page.tsx";
import { STATUS_STYLES } from "../ui/status-badge.tsx";
import { IconBadge } from "../ui/icon-badge.tsx";
import { Time } from "../ui/time.tsx";
import { CancelButton } from "./cancel-button.tsx";
import { MoreRuns, Plan, Skipped } from "./plan.tsx";
import { ProgressBar } from "./progress.tsx";
import { bulkActionQuery, isActive } from "./queries.ts";
import { RunTable } from "./run-table.tsx";
import { BulkActionBadge } from "./status-badge.tsx";
import { describeCounts, messageTitle } from "./texts.ts";
import { BulkActionTitle, useBulkActionText } from "./title.tsx";

export default function BulkActionPage() {
  const { bulkActionId: id = "" } = useParams();
  const query = useQuery(bulkActionQuery(id));
  const data = query.data ?? undefined;
  const may = useHasScopeIn(data);
  return (
    <Page
      title={useBulkActionText(data)}
      heading={data === undefined ? "Bulk action" : <BulkActionTitle bulkAction={data} />}
      about={
        <Group gap="xs">
          {data !== undefined && <BulkActionBadge status={data.status} />}
          <Code>{id}</Code>
          <ProjectBadge project={data?.project} />
          <Anchor component={Link} to="/bulk-actions" size="sm">
            All bulk actions
          </Anchor>
        </Group>
      }
      actions={data?.status === "running" && may("run") && <CancelButton id={id} bulkAction={data} />}
    >
      <QueryContent query={query}>
        {(bulkAction) =>
          bulkAction === null ? (
            <NotFound code="bulk_action_not_found" id={id} />
          ) : (
            <Details key={id} id={id} bulkAction={bulkAction} />
          )
        }
      </QueryContent>
    </Page>
  );
}

function Details({ id, bulkAction }: { id: string; bulkAction: BulkAction }) {
  const { status, message, plan, skipped, more } = bulkAction;
  return (
    <Stack gap="xl">
      <BulkActionFacts bulkAction={bulkAction} />
      {message !== null && (
        <Alert color="yellow" title={messageTitle(status)} role="note">
          <Text size="sm">{message}</Text>
        </Alert>
      )}
      {more === true && <MoreRuns title="More runs fitted the filter" />}
      <Stack gap="sm" aria-live={isActive(bulkAction) ? "polite" : "off"}>
        <ProgressBar bulkAction={bulkAction} />
        <Text size="sm">{describeCounts(bulkAction)}.</Text>
        <Retries bulkAction={bulkAction} />
      </Stack>
      {skipped.length > 0 && (
        <Section title="Left out and skipped" order={2}>
          <Skipped bulkAction={bulkAction} />
        </Section>
      )}
      <Section title="Plan that was confirmed" order={2}>
        <Plan plan={plan} />
      </Section>
      <Section title="Runs" order={2}>
        <RunTable id={id} bulkAction={bulkAction} />
      </Section>
    </Stack>
  );
}

function Retries({ bulkAction: { retries } }: { bulkAction: BulkAction }) {
  const counts = RUN_STATUSES.flatMap((status) => {
    const count = retries?.[status] ?? 0;
    return count === 0 ? [] : [{ status, label: `${count.toLocaleString()} ${status}` }];
  });
  if (counts.length === 0) return null;
  return (
    <Group gap="xs" role="group" aria-label="Retries by status">
      <Text size="sm">Retries:</Text>
      {counts.map(({ status, label }) => (
        <IconBadge key={status} {...STATUS_STYLES[status]} label={label} />
      ))}
    </Group>
  );
}

function BulkActionFacts({ bulkAction }: { bulkAction: BulkAction }) {
  const { action, version, rate, concurrency, reason } = bulkAction;
  const {
    started_by: by,
    created_at: created,
    finished_at: finished,
    cancelled_by: cancelledBy,
  } = bulkAction;
  return (
    <Facts>
      <Fact name="Started by">{by}</Fact>
      <Fact name="Started">
        <Time at={created} />
      </Fact>
      {finished !== null && (
        <Fact name="Ended">
          <Time at={finished} />
          {cancelledBy !== null && `, cancelled by ${cancelledBy}`}
        </Fact>
      )}
      {action === "retry" && (
        <>
          <Fact name="Version">{version ?? "the version of each run"}</Fact>
          <Fact name="At a time">{concurrency}</Fact>
        </>
      )}
      {rate !== null && <Fact name="Rate">{rate}</Fact>}
      {reason !== null && <Fact name="Reason">{reason}</Fact>}
    </Facts>
  );
}
