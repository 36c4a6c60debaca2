/** The form that says whether an effect happened, with what follows from each answer. */
import { Button, Group, Radio, Stack, Text, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { Interruption, InterruptionOutcome } from "../../../schemas/interruption.ts";
import { ApiError } from "../api/client.ts";
import { issuesUnder, issuesOutside, issueText } from "../forms/issues.ts";
import { JsonField } from "../forms/json-field.tsx";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { MarkedText } from "../ui/id.tsx";
import { ErrorAlert, LoadingSkeleton } from "../ui/page.tsx";
import { outputTemplatesQuery } from "./queries.ts";
import { CONSEQUENCES, OUTCOME_LABELS, placeText, questionText, type RunState } from "./texts.ts";
import { useSettle } from "./use-settle.ts";

/** Maximum length of a comment, in UTF-16 code units. */
const MAX_COMMENT_CHARS = 2_000;

interface SettleFormProps {
  interruption: Interruption;
  runState: RunState;
  /** The type of the step; undefined where it isn't known. */
  stepType: string | undefined;
}

export function SettleForm({ interruption, runState, stepType }: SettleFormProps) {
  const may = useHasScopeIn(interruption)("approve");
  const refusalId = useId();
  const [outcome, setOutcome] = useState<InterruptionOutcome>();
  // Undefined until it is edited, null if it is empty.
  const [edited, setEdited] = useState<object | null>();
  const [comment, setComment] = useState("");
  const takesOutput = outcome === "happened" && runState !== "superseded";
  const templates = useQuery({ ...outputTemplatesQuery, enabled: may && takesOutput });
  const settle = useSettle(interruption);
  const issues = settle.error instanceof ApiError ? (settle.error.problem.errors ?? []) : [];
  const otherIssues = issuesOutside(issues, ["output", "comment"]);
  const disabled = !may || settle.isPending;
  const output = edited === undefined ? ((stepType && templates.data?.get(stepType)) ?? null) : edited;

  const confirm = (chosen: InterruptionOutcome): void =>
    confirmAction({
      title: <MarkedText text={`${questionText(interruption)} ${OUTCOME_LABELS[chosen]}`} />,
      consequence: `${CONSEQUENCES[runState][chosen]} You can't change your answer later.`,
      confirm: "Save answer",
      onConfirm: () =>
        settle.mutate({
          outcome: chosen,
          ...(takesOutput && output !== null && { output: output as Record<string, unknown> }),
          ...(comment.trim() !== "" && { comment: comment.trim() }),
        }),
    });

  return (
    <form
      aria-label={`Answer for ${placeText(interruption)}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (outcome !== undefined) confirm(outcome);
      }}
    >
      <Stack gap="sm">
        {!may && (
          <Text size="sm" id={refusalId}>
            You can&apos;t answer this: it needs the scope approve, which editors and admins have.
          </Text>
        )}
        <Radio.Group
          label="Your answer"
          value={outcome ?? ""}
          onChange={(chosen) => setOutcome(chosen as InterruptionOutcome)}
          {...(!may && { "aria-describedby": refusalId })}
        >
          <Stack gap="xs" mt={6}>
            {Object.entries(OUTCOME_LABELS).map(([value, label]) => (
              <Radio
                key={value}
                value={value}
                label={label}
                description={CONSEQUENCES[runState][value as InterruptionOutcome]}
                disabled={disabled}
              />
            ))}
          </Stack>
        </Radio.Group>
        {takesOutput &&
          (templates.isLoading ? (
            <LoadingSkeleton rows={2} />
          ) : (
            <JsonField
              label="Output"
              help="Optional. What the step would have returned, as JSON. Later steps read null for what you leave out."
              value={output}
              onChange={(value) => setEdited(value as object | null)}
              empty={null}
              error={issueText(issuesUnder(issues, "output"))}
              disabled={disabled}
              objectOnly
            />
          ))}
        <Textarea
          label="Comment"
          description="Optional. How you found out."
          autosize
          minRows={2}
          maxLength={MAX_COMMENT_CHARS}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          error={issueText(issuesUnder(issues, "comment"))}
          disabled={disabled}
        />
        {settle.error !== null && (issues.length === 0 || otherIssues.length > 0) && (
          <ErrorAlert error={settle.error} />
        )}
        <Group>
          <Button
            type="submit"
            disabled={disabled || outcome === undefined}
            loading={settle.isPending}
            {...(!may && { "aria-describedby": refusalId })}
          >
            Save answer…
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
