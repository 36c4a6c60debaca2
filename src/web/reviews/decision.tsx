/** The form to approve or reject a change request, or why the person may not. */
import { Alert, Button, Card, Group, Stack, Textarea, Title } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/reviews";
import type { Review } from "../../../schemas/review.ts";
import { send } from "../api/client.ts";
import { useSession } from "../app/session.tsx";
import { useIdempotencyHeader } from "../runs/use-idempotency-header.ts";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";

/** Maximum length of a comment, in UTF-16 code units. */
const MAX_COMMENT_CHARS = 2_000;

export function Decision({ review }: { review: Review }) {
  const { decidable } = review;
  const { user } = useSession();
  const client = useQueryClient();
  const idempotencyHeaderFor = useIdempotencyHeader();
  const [comment, setComment] = useState("");
  const path = { review_id: review.id };
  const onSettled = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ["reviews"] }),
      client.invalidateQueries({ queryKey: ["workflows"] }),
    ]);
  const decide = useSingleFlightMutation({
    mutationFn: (decision: "approve" | "reject") => {
      const body = {
        decision,
        // The approval is for what this page shows, not for what has replaced it.
        ...(decision === "approve" && review.digest !== undefined && { digest: review.digest }),
        ...(comment.trim() !== "" && { comment: comment.trim() }),
      };
      return send("post", "/reviews/{review_id}", { path, body, header: idempotencyHeaderFor(body) });
    },
    onSuccess: (_, decision) =>
      notifySuccess(decision === "approve" ? texts.published({ version: review.version }) : texts.rejected),
    onSettled,
  });
  const withdraw = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/reviews/{review_id}/withdraw", { path, body: {}, header: idempotencyHeaderFor({}) }),
    onSuccess: () => notifySuccess(texts.withdrawn),
    onSettled,
  });
  const isOwn = review.requested_by === user.email;
  const mayDecide = decidable?.by_you === true;
  const isBusy = decide.isPending || withdraw.isPending;
  const error = decide.error ?? withdraw.error;
  return (
    <Card withBorder p="lg" component="section" aria-labelledby="decision">
      <Stack>
        <Title order={2} size="h4" id="decision">
          {texts.yourDecision}
        </Title>
        {!mayDecide && (
          <Alert color="gray" title={texts.cantDecide} role="note">
            {texts.anotherDecides({ reason: decidable?.why_not ?? "" })}
          </Alert>
        )}
        <Textarea
          label={texts.comment}
          description={texts.commentHelp}
          autosize
          minRows={2}
          maxLength={MAX_COMMENT_CHARS}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          disabled={!mayDecide || isBusy}
        />
        {error !== null && <ErrorAlert error={error} />}
        <Group>
          <Button
            leftSection={<IconCheck size={16} aria-hidden />}
            loading={decide.isPending && decide.variables === "approve"}
            disabled={!mayDecide || isBusy}
            onClick={() => decide.mutate("approve")}
          >
            {texts.approve}
          </Button>
          <Button
            variant="default"
            leftSection={<IconX size={16} aria-hidden />}
            loading={decide.isPending && decide.variables === "reject"}
            disabled={!mayDecide || isBusy || comment.trim() === ""}
            onClick={() => decide.mutate("reject")}
          >
            {texts.reject}
          </Button>
          {isOwn && (
            <Button
              variant="subtle"
              color="gray"
              loading={withdraw.isPending}
              disabled={isBusy}
              onClick={() => withdraw.mutate()}
            >
              {texts.withdraw}
            </Button>
          )}
        </Group>
      </Stack>
    </Card>
  );
}
