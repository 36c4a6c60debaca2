/** The workflows that failed in the last two weeks, by name and count. */
import { Badge, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import * as texts from "#texts/home";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { LoadingSkeleton, QueryContent } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { HomeCard } from "./home-card.tsx";
import { ListEntry } from "./lists.tsx";
import { runStatisticsQuery } from "./queries.ts";

const SHOWN = 6;

export function FailingWorkflows() {
  const query = useQuery(runStatisticsQuery(useProjectFilter()));
  return (
    <HomeCard title={texts.failingWorkflows} to="/runs?status=failed">
      <QueryContent query={query} skeleton={<LoadingSkeleton rows={3} />}>
        {({ failing, failing_capped: isCapped }) =>
          failing.length === 0 ? (
            <Text size="sm" c="dimmed">
              {texts.noneFailing}
            </Text>
          ) : (
            <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
              {failing.slice(0, SHOWN).map((workflow) => (
                <Group
                  key={workflow.workflow_id}
                  component="li"
                  justify="space-between"
                  wrap="nowrap"
                  gap="sm"
                >
                  <ListEntry
                    to={`/runs/${workflow.last_failed_run}`}
                    label={workflow.name}
                    details={texts.lastFailure({ time: <Time at={workflow.last_failed_at} ago /> })}
                  />
                  <Group gap={6} wrap="nowrap">
                    {workflow.last_status === "succeeded" && <StatusBadge status="succeeded" />}
                    <Badge
                      color="red"
                      variant="light"
                      tt="none"
                      miw="max-content"
                      styles={{ label: { color: "var(--mantine-color-text)" } }}
                    >
                      {texts.failedCount({ count: workflow.failed })}
                    </Badge>
                  </Group>
                </Group>
              ))}
              {isCapped === true && (
                <Text size="xs" c="dimmed" component="li">
                  {texts.failingCapped}
                </Text>
              )}
            </Stack>
          )
        }
      </QueryContent>
    </HomeCard>
  );
}
