/** Says on the page of a workflow that a version waits for a review. */
import { Alert, Anchor, Text } from "@mantine/core";
import { IconGitPullRequest } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { pendingReviewQuery } from "./queries.ts";

export function ReviewNotice({ workflowId }: { workflowId: string }) {
  const { data: review } = useQuery(pendingReviewQuery(workflowId));
  if (review === null || review === undefined) return null;
  return (
    <Alert
      color="yellow"
      icon={<IconGitPullRequest aria-hidden />}
      title={`Version ${review.version} waits for review`}
    >
      <Text size="sm">
        {review.requested_by} asks to publish it.{" "}
        <Anchor component={Link} to={`/reviews/${review.id}`} inherit c="inherit" underline="always">
          Review the change
        </Anchor>
      </Text>
    </Alert>
  );
}
