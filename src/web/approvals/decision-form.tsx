/** The form to approve or decline: the fields that the step asks for, and a comment. */
import { Card, Stack, Textarea, Title } from "@mantine/core";
import { type KeyboardEvent, useRef, useState } from "react";
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import { ApiError } from "../api/client.ts";
import { issuesUnder, issuesOutside, issueText } from "../forms/issues.ts";
import { initialValue } from "../forms/schema.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { ErrorAlert } from "../ui/page.tsx";
import { DecisionButtons } from "./decision-buttons.tsx";
import { useDecide } from "./use-decide.ts";

/** Maximum length of a comment, in UTF-16 code units. */
const MAX_COMMENT_CHARS = 2_000;

export function DecisionForm({ approval }: { approval: Approval }) {
  const { form: schema } = approval;
  const [form, setForm] = useState<Record<string, unknown>>(() =>
    schema === null ? {} : initialValue(schema),
  );
  const [comment, setComment] = useState("");
  const formRef = useRef<HTMLFormElement>(null);
  const decide = useDecide(approval, {
    written: (decision) => ({
      ...(comment.trim() !== "" && { comment: comment.trim() }),
      ...(decision === "approve" && schema !== null && { form }),
    }),
    // Focuses the first invalid field, after React has marked it.
    onError: () =>
      requestAnimationFrame(() =>
        formRef.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(),
      ),
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
          {texts.yourDecision}
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
          label={texts.comment}
          description={texts.commentHelp}
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
        <DecisionButtons
          approval={approval}
          pending={decide.isPending ? decide.variables : null}
          decline={() => decide.mutate("decline")}
        />
      </Stack>
    </Card>
  );
}

/** Enter in a text field would submit the form, and approve by accident. */
function ignoreEnter(event: KeyboardEvent): void {
  if (event.key === "Enter" && event.target instanceof HTMLInputElement) event.preventDefault();
}
