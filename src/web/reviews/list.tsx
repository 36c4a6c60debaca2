/** The list of change requests, by status. The status is a query parameter of the page. */
import { Anchor, Card, Group, Select, Stack, Text } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import type { Review, ReviewStatus } from "../../../schemas/review.ts";
import { send } from "../api/client.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import { Time } from "../ui/time.tsx";
import { REVIEW_STATUSES, ReviewBadge } from "./review-badge.tsx";
import { ReviewTitle } from "./review-title.tsx";

const PAGE_SIZE = 50;
const POLL_INTERVAL_MS = 10_000;

const STATUS_OPTIONS = REVIEW_STATUSES.map((value) => ({
  value,
  label: value.slice(0, 1).toUpperCase() + value.slice(1),
}));

export default function ReviewList() {
  const [params, setParams] = useSearchParams();
  const status = REVIEW_STATUSES.find((known) => known === params.get("status")) ?? "pending";
  const query = useReviews(status);
  return (
    <Page title="Reviews" about="Versions that somebody asks to publish. Another person decides.">
      <Select
        label="Status"
        data={STATUS_OPTIONS}
        value={status}
        allowDeselect={false}
        maw={240}
        onChange={(to) => setParams(to === null || to === "pending" ? {} : { status: to }, { replace: true })}
      />
      <PagedList
        query={query}
        empty={
          <EmptyState title={`No ${status} change requests`}>
            Where reviews are required, what agents and authors publish waits here for another person.
          </EmptyState>
        }
      >
        {(reviews) => (
          <Stack
            component="ul"
            gap="sm"
            m={0}
            p={0}
            aria-label="Change requests"
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
  const { id, project, status, reason } = review;
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
            <ReviewTitle review={review} />
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
          {`${review.requested_by} (${review.key_name}) · requested `}
          <Time at={review.requested_at} ago />
          {review.decided_by !== null && ` · ${status} by ${review.decided_by}`}
        </Text>
      </Stack>
    </Card>
  );
}
