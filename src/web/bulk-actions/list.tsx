/** All bulk actions, newest first. */
import { Anchor, Box, Button, Card, Group, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { BulkActionSummary } from "../../../schemas/bulk-action.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { ProgressBar } from "./progress.tsx";
import { bulkActionsQuery } from "./queries.ts";
import { BulkActionBadge } from "./status-badge.tsx";
import { describeCounts } from "./texts.ts";
import { BulkActionTitle } from "./title.tsx";

export default function BulkActionList() {
  const query = useInfiniteQuery(bulkActionsQuery(useProjectFilter()));
  return (
    <Page
      title="Bulk actions"
      about={
        <>
          Many runs, retried or cancelled at once.{" "}
          <Anchor component={Link} to="/runs" inherit underline="always">
            All runs
          </Anchor>
        </>
      }
    >
      <PagedList query={query} empty={<NoBulkActions />}>
        {(items) => (
          <Stack component="ul" gap="sm" m={0} p={0} aria-label="Bulk actions" style={{ listStyle: "none" }}>
            {items.map((bulkAction) => (
              <Row key={bulkAction.id} bulkAction={bulkAction} />
            ))}
          </Stack>
        )}
      </PagedList>
    </Page>
  );
}

function Row({ bulkAction }: { bulkAction: BulkActionSummary }) {
  const { id, status, project, reason, created_at: at, started_by: by } = bulkAction;
  return (
    <Card component="li" withBorder p="sm" style={{ overflowWrap: "anywhere" }}>
      <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start">
        <Anchor component={Link} to={`/bulk-actions/${id}`} size="sm" fw={500}>
          <BulkActionTitle bulkAction={bulkAction} />
        </Anchor>
        <BulkActionBadge status={status} />
      </Group>
      <Box my={6}>
        <ProgressBar bulkAction={bulkAction} size="sm" />
      </Box>
      {reason !== null && <Text size="sm">{reason}</Text>}
      <Text size="sm" c="dimmed">
        {describeCounts(bulkAction)} · <Time at={at} ago /> by {by}
      </Text>
      <ProjectBadge project={project} inList />
    </Card>
  );
}

const NoBulkActions = () => (
  <EmptyState
    title="No bulk actions yet"
    action={
      <Button component={Link} to="/runs">
        Runs
      </Button>
    }
  >
    Retry or cancel many runs at once on the page of runs: select some, or filter the list.
  </EmptyState>
);
