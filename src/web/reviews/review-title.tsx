import type { Review } from "../../../schemas/review.ts";
import { WorkflowName } from "../workflows/names.tsx";

/** What a change request is about. */
export const ReviewTitle = ({ review }: { review: Pick<Review, "version" | "workflow_id"> }) => (
  <>
    Publish version {review.version} of <WorkflowName id={review.workflow_id} />
  </>
);
