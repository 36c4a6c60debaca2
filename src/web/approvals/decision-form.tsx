/** The form to approve or decline: the fields that the step asks for, and a comment. */
import { Button, Card, Group, Stack, Textarea, Title } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useRef, useState } from "react";
import type { Approval } from "../../../schemas/approval.ts";
import { ApiError, send } from "../api/client.ts";
import { issuesUnder, issuesOutside, issueText } from "../forms/issues.ts";
import { initialValue } from "../forms/schema.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { useIdempotencyHeader } from "../runs/use-idempotency-header.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";

/** Maximum length of a comment, in UTF-16 code units. */
const MAX_COMMENT_CHARS = 2_000;

export function DecisionForm({ approval }: { approval: Approval }) {
  const { id, form: schema, plan } = approval;
  const client = useQueryClient();
  const idempotencyHeaderFor = useIdempotencyHeader();
  const [form, setForm] = useState<Record<string, unknown>>(() =>
    schema === null ? {} : initialValue(schema),
  );
  const [comment, setComment] = useState("");
  const formRef = useRef<HTMLFormElement>(null);
  const decide = useSingleFlightMutation({
    mutationFn: (decision: "approve" | "decline") => {
      const body = {
        decision,
        // The decision is for the plan on this page, not for one that has replaced it.
        ...(plan !== undefined && { plan_digest: plan.digest }),
        ...(comment.trim() !== "" && { comment: comment.trim() }),
        ...(decision === "approve" && schema !== null && { form }),
      };
      return send("post", "/approvals/{approval_id}", {
        path: { approval_id: id },
        body,
        header: idempotencyHeaderFor(body),
      });
    },
    onSuccess: (_, decision) =>
      notifySuccess(decision === "approve" ? "Approved. The run continues." : "Declined. The run continues."),
    // Focuses the first invalid field, after React has marked it.
    onError: () =>
      requestAnimationFrame(() =>
        formRef.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(),
      ),
    // Also after an error: another user may have decided first.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["approvals"] }),
        client.invalidateQueries({ queryKey: ["runs"] }),
      ]),
  });
  const issues = decide.error instanceof ApiError ? (decide.error.problem.errors ?? []) : [];
  const formIssues = issuesOutside(issues, ["form", "comment"]);
  return (
    <Card
      withBorder
      component="form"
      p="lg"
      ref={formRef}
      onKeyDown={ignoreEnter}
      onSubmit={(event) => {
        event.preventDefault();
        decide.mutate("approve");
      }}
    >
      <Stack>
        <Title order={2} size="h4">
          Your decision
        </Title>
        {schema !== null && (
          <SchemaForm
            schema={schema}
            value={form}
            onChange={setForm}
            issues={issuesUnder(issues, "form")}
            disabled={decide.isPending}
          />
        )}
        <Textarea
          label="Comment"
          description="Optional. The run can read it."
          autosize
          minRows={2}
          maxLength={MAX_COMMENT_CHARS}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          error={issueText(issuesUnder(issues, "comment"))}
          disabled={decide.isPending}
        />
        {decide.error !== null && (issues.length === 0 || formIssues.length > 0) && (
          <ErrorAlert error={decide.error} />
        )}
        <Group>
          <Button
            type="submit"
            leftSection={<IconCheck size={16} aria-hidden />}
            loading={decide.isPending && decide.variables === "approve"}
            disabled={decide.isPending}
          >
            Approve
          </Button>
          <Button
            variant="default"
            leftSection={<IconX size={16} aria-hidden />}
            loading={decide.isPending && decide.variables === "decline"}
            disabled={decide.isPending}
            onClick={() =>
              confirmAction({
                title: `Decline the approval "${approval.step_id}"?`,
                consequence: `The run ${approval.run_id} of ${approval.workflow_id ?? "a single step"} continues as declined. You can't change the decision later.`,
                confirm: "Decline",
                onConfirm: () => decide.mutate("decline"),
              })
            }
          >
            Decline
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}

/** Enter in a text field would submit the form, and approve by accident. */
function ignoreEnter(event: KeyboardEvent): void {
  if (event.key === "Enter" && event.target instanceof HTMLInputElement) event.preventDefault();
}
