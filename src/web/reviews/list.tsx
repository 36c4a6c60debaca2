/** The list of change requests, by status. The status is a query parameter of the page. */
import { Anchor, Card, Group, Select, Stack, Text } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import * as texts from "#texts/reviews";
import type { Review, ReviewStatus } from "../../../schemas/review.ts";
import { send } from "../api/client.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import { Time } from "../ui/time.tsx";
import { REVIEW_STATUSES, ReviewBadge } from "./review-badge.tsx";

const PAGE_SIZE = 50;
const POLL_INTERVAL_MS = 10_000;

const STATUS_OPTIONS = REVIEW_STATUSES.map((value) => ({
  value,
  label: texts.statusOption({ status: value }),
}));

export default function ReviewList() {
  const [params, setParams] = useSearchParams();
  const status = REVIEW_STATUSES.find((known) => known === params.get("status")) ?? "pending";
  const query = useReviews(status);
  return (
    <Page title={texts.title} about={texts.about}>
      <Select
        label={texts.statusFilter}
        data={STATUS_OPTIONS}
        value={status}
        allowDeselect={false}
        maw={240}
        onChange={(to) => setParams(to === null || to === "pending" ? {} : { status: to }, { replace: true })}
      />
      <PagedList
        query={query}
        empty={<EmptyState title={texts.noRequests({ status })}>{texts.noRequestsHelp}</EmptyState>}
      >
        {(reviews) => (
          <Stack
            component="ul"
            gap="sm"
            m={0}
            p={0}
            aria-label={texts.changeRequests}
            style={{ listStyle: "none" }}
          >
            {reviews.map((review) => (
              <ReviewCard key={review.id} review={review} />
            ))}
          </Stack>
        )}
      </PagedList>
    </Page>
  );
}

function useReviews(status: ReviewStatus) {
  const project = useProjectFilter();
  return useInfiniteQuery({
    queryKey: ["reviews", "list", status, project],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/reviews", {
        query: { status, limit: PAGE_SIZE, ...project, ...cursorParam(pageParam) },
        signal,
      }),
    ...cursorPagination,
    placeholderData: keepPreviousData,
    refetchInterval: status === "pending" && POLL_INTERVAL_MS,
  });
}

function ReviewCard({ review }: { review: Review }) {
  const { id, project, workflow_id: workflow, version, status, reason } = review;
  return (
    <Card withBorder component="li" p="md">
      <Stack gap={6}>
        <Group justify="space-between" align="flex-start" gap="xs">
          <Anchor
            component={Link}
            to={`/reviews/${id}`}
            fw={500}
            flex="1 1 240px"
            style={{ overflowWrap: "anywhere" }}
          >
            {texts.publishVersion({ version, workflow })}
          </Anchor>
          <Group gap={6}>
            <ProjectBadge project={project} inList />
            <ReviewBadge status={status} />
          </Group>
        </Group>
        {reason !== null && (
          <Text size="sm" lineClamp={3} style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
            {reason}
          </Text>
        )}
        <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {`${review.requested_by} (${review.key_name}) · `}
          {texts.requested({ time: <Time at={review.requested_at} ago /> })}
          {review.decided_by !== null && ` · ${texts.decidedBy({ status, person: review.decided_by })}`}
        </Text>
      </Stack>
    </Card>
  );
}
