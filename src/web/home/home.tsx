/** The home page: statistics, open interruptions, pending approvals, recent and upcoming runs; before the first run, how to start. */
import { Box, SimpleGrid, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { OpenInterruptions } from "../interruptions/open-interruptions.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { Page } from "../ui/page.tsx";
import { useNow } from "../ui/now.ts";
import { OverdueWorkflows } from "./overdue.tsx";
import { UpcomingRuns, RecentFailures, RecentRuns, PendingApprovals } from "./lists.tsx";
import { firstWorkflowsQuery, dayAgo, homeRunsQuery } from "./queries.ts";
import { RunStatistics } from "./run-statistics.tsx";
import { GettingStarted } from "./getting-started.tsx";

/** Not needed before the first run, and the first page has a budget. */
const DaysByWorkflow = lazy(async () => ({
  default: (await import("./days-by-workflow.tsx")).DaysByWorkflow,
}));
/** Height of the card with three workflows in two columns, in pixels. */
const CARD_HEIGHT = 150;

export default function Home() {
  const since = dayAgo(useNow());
  const filter = useProjectFilter();
  const runs = useQuery(homeRunsQuery(filter, []));
  const workflows = useQuery(firstWorkflowsQuery(filter));
  const hasNoRuns = runs.data?.data.length === 0;
  return (
    <Page title="Home">
      <OverdueWorkflows />
      <OpenInterruptions />
      {hasNoRuns && workflows.data !== undefined && <GettingStarted workflows={workflows.data.data} />}
      {!hasNoRuns && (
        <>
          <RunStatistics since={since} />
          {runs.isPending ? (
            <Box h={CARD_HEIGHT} />
          ) : (
            <Suspense fallback={<Skeleton height={CARD_HEIGHT} />}>
              <DaysByWorkflow />
            </Suspense>
          )}
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <PendingApprovals />
            <RecentFailures since={since} />
            <RecentRuns />
            <UpcomingRuns />
          </SimpleGrid>
        </>
      )}
    </Page>
  );
}
