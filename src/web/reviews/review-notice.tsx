/** Says on the page of a workflow that a version waits for a review. */
import { Alert, Anchor, Text } from "@mantine/core";
import { IconGitPullRequest } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import * as texts from "#texts/reviews";
import { pendingReviewQuery } from "./queries.ts";

const linkToReview =
  (id: string) =>
  (text: ReactNode): ReactNode => (
    <Anchor component={Link} to={`/reviews/${id}`} inherit c="inherit" underline="always">
      {text}
    </Anchor>
  );

export function ReviewNotice({ workflowId }: { workflowId: string }) {
  const { data: review } = useQuery(pendingReviewQuery(workflowId));
  if (review === null || review === undefined) return null;
  return (
    <Alert
      color="yellow"
      icon={<IconGitPullRequest aria-hidden />}
      title={texts.waitsForReview({ version: review.version })}
    >
      <Text size="sm">
        {texts.asksToPublish({ person: review.requested_by, link: linkToReview(review.id) })}
      </Text>
    </Alert>
  );
}
