/** The list of interruptions, by status. The status, the run and the workflow are query parameters of the page. */
import { Anchor, Button, Card, Group, Select, Stack, Text } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { Interruption } from "../../../schemas/interruption.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { MarkedText } from "../ui/id.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { useFilters } from "../ui/use-filters.ts";
import { WorkflowLink } from "../workflows/names.tsx";
import { AnswerLine } from "./answer-line.tsx";
import { InterruptionBadge } from "./badge.tsx";
import { interruptionsQuery, STATUSES, type Status } from "./queries.ts";
import { pathOf, questionText, REASON_TEXTS } from "./texts.ts";

export default function InterruptionList() {
  const [params, setFilter] = useFilters();
  const status = STATUSES.find((known) => known === params.get("status")) ?? "open";
  const run = params.get("run");
  const project = useProjectFilter();
  const query = useInfiniteQuery({
    ...interruptionsQuery(status, { ...project, ...(run !== null && { run_id: run }) }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Interruptions"
      about={
        <>
          Attempts that ended without an answer: nobody knows whether their effects happened.{" "}
          <Anchor component={Link} to="/approvals" inherit underline="always">
            Approvals
          </Anchor>
        </>
      }
    >
      <Group align="flex-end">
        <Select
          label="Status"
          data={STATUS_OPTIONS}
          value={status}
          allowDeselect={false}
          maw={240}
          onChange={(to) => setFilter("status", to === null || to === "open" ? "" : to)}
        />
        {run !== null && (
          <Button variant="default" onClick={() => setFilter("run", "")}>
            Clear run filter
          </Button>
        )}
      </Group>
      <PagedList query={query} empty={<NoInterruptions status={status} />}>
        {(interruptions) => (
          <Stack component="ul" gap="sm" m={0} p={0} aria-label="Interruptions" style={{ listStyle: "none" }}>
            {interruptions.map((interruption) => (
              <InterruptionCard key={interruption.id} interruption={interruption} />
            ))}
          </Stack>
        )}
      </PagedList>
    </Page>
  );
}

const STATUS_OPTIONS = STATUSES.map((value) => ({
  value,
  label: value.slice(0, 1).toUpperCase() + value.slice(1),
}));

function InterruptionCard({ interruption }: { interruption: Interruption }) {
  const { workflow_id: workflow, run_id: run, attempt, reason } = interruption;
  return (
    <Card withBorder component="li" p="md" style={{ overflowWrap: "anywhere" }}>
      <Stack gap={6}>
        <Group justify="space-between" align="flex-start" gap="xs">
          <Anchor component={Link} to={pathOf(interruption)} fw={500} flex="1 1 240px">
            <MarkedText text={questionText(interruption)} />
          </Anchor>
          <Group gap={6}>
            <ProjectBadge project={interruption.project} inList />
            <InterruptionBadge interruption={interruption} />
          </Group>
        </Group>
        <Text size="sm">{REASON_TEXTS[reason]}</Text>
        <Text size="sm" c="dimmed">
          {workflow === null ? "single step" : <WorkflowLink id={workflow} c="dimmed" underline="always" />} ·{" "}
          {run} · attempt {attempt} · interrupted <Time at={interruption.interrupted_at} ago />
        </Text>
        {interruption.outcome !== null && (
          <Text size="sm">
            <AnswerLine interruption={interruption} />
          </Text>
        )}
      </Stack>
    </Card>
  );
}

function NoInterruptions({ status }: { status: Status }) {
  if (status === "open")
    return (
      <EmptyState title="No open interruptions">
        A step with effects whose executor dies, whose connection breaks or whose time limit passes may have
        been executed or not. Until a lookup or a person says which, it is listed here.
      </EmptyState>
    );
  return <EmptyState title={status === "all" ? "No interruptions" : `No ${status} interruptions`} />;
}
