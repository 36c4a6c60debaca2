/** The home page: what needs attention, and what runs next; before the first run, how to start. */
import { SimpleGrid } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import * as texts from "#texts/home";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { Page } from "../ui/page.tsx";
import { useNow } from "../ui/now.ts";
import { OverdueWorkflows } from "./overdue.tsx";
import { FailingWorkflows } from "./failing-workflows.tsx";
import { UpcomingRuns, RecentFailures, RecentRuns } from "./lists.tsx";
import { PendingApprovals } from "./pending-approvals.tsx";
import { firstWorkflowsQuery, dayAgo, homeRunsQuery } from "./queries.ts";
import { RunStatistics } from "./run-statistics.tsx";
import { RunTrend } from "./run-trend.tsx";
import { Shortcuts } from "./shortcuts.tsx";
import { GettingStarted } from "./getting-started.tsx";

export default function Home() {
  const since = dayAgo(useNow());
  const filter = useProjectFilter();
  const runs = useQuery(homeRunsQuery(filter, []));
  const workflows = useQuery(firstWorkflowsQuery(filter));
  const hasNoRuns = runs.data?.data.length === 0;
  return (
    <Page title={texts.title}>
      <OverdueWorkflows />
      {hasNoRuns && workflows.data !== undefined && <GettingStarted workflows={workflows.data.data} />}
      {!hasNoRuns && (
        <>
          <RunStatistics since={since} />
          <PendingApprovals />
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <RunTrend />
            <FailingWorkflows />
            <RecentFailures since={since} />
            <UpcomingRuns />
            <RecentRuns />
            <Shortcuts />
          </SimpleGrid>
        </>
      )}
    </Page>
  );
}
