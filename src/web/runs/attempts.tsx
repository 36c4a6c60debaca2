/** The attempts of a step, newest first: start, duration, input, model usage and error. */
import { Accordion, Group, Stack, Text } from "@mantine/core";
import type { Attempt, AttemptStatus, StepStatus } from "../../../schemas/run.ts";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { ValueView } from "../values/value-view.tsx";
import { fullValueLoader } from "./queries.ts";
import { ErrorBox, Section } from "./section.tsx";
import { formatElapsed } from "./elapsed.ts";
import { formatUsage } from "./usage.ts";

interface AttemptsProps {
  runId: string;
  /** The step or item that they belong to: "send, item 3". */
  ownerLabel: string;
  attempts: readonly Attempt[];
  /** The attempt whose error the step already shows. */
  reportedAttempt: Attempt | undefined;
  now: number;
}

export function Attempts({ runId, ownerLabel, attempts, reportedAttempt, now }: AttemptsProps) {
  const newest = attempts.at(-1)!;
  if (attempts.length === 1 && newest.status !== "interrupted") {
    // A single attempt needs no list: the step shows everything but its input.
    return newest.input === undefined ? null : (
      <Section title="Input">
        <AttemptInput runId={runId} ownerLabel={ownerLabel} attempt={newest} />
      </Section>
    );
  }
  return (
    <Section title={`Attempts (${newest.attempt})`}>
      {newest.attempt > attempts.length && (
        <Text size="sm" c="dimmed">
          Showing the last {attempts.length}.
        </Text>
      )}
      <Accordion variant="separated" multiple defaultValue={[String(newest.attempt)]} order={4}>
        {attempts.toReversed().map((attempt) => (
          <Accordion.Item key={attempt.attempt} value={String(attempt.attempt)}>
            <Accordion.Control>
              <AttemptHeader attempt={attempt} now={now} />
            </Accordion.Control>
            <Accordion.Panel>
              <Stack gap="sm">
                {attempt.error !== null && attempt !== reportedAttempt && <ErrorBox error={attempt.error} />}
                {attempt.status === "interrupted" && (
                  <Text size="sm">The process that ran this attempt ended before the attempt did.</Text>
                )}
                {attempt.usage !== null && <Text size="sm">Model usage: {formatUsage(attempt.usage)}</Text>}
                {attempt.input !== undefined && (
                  <Section title="Input">
                    <AttemptInput runId={runId} ownerLabel={ownerLabel} attempt={attempt} />
                  </Section>
                )}
              </Stack>
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Section>
  );
}

const AttemptInput = ({
  runId,
  ownerLabel,
  attempt: { attempt, input },
}: {
  runId: string;
  ownerLabel: string;
  attempt: Attempt;
}) => (
  <ValueView
    value={input}
    label={`Input of ${ownerLabel}, attempt ${attempt}`}
    loadFull={fullValueLoader(runId, input)}
  />
);

function AttemptHeader({
  attempt: { attempt, status, started_at: from, finished_at: to },
  now,
}: {
  attempt: Attempt;
  now: number;
}) {
  return (
    <Group gap="sm">
      <Text size="sm" fw={500}>
        Attempt {attempt}
      </Text>
      {status === "interrupted" ? (
        <Text size="xs" c="dimmed">
          interrupted
        </Text>
      ) : (
        <StatusBadge status={status satisfies Exclude<AttemptStatus, "interrupted"> & StepStatus} />
      )}
      <Text size="xs" c="dimmed">
        <Time at={from} /> · {formatElapsed(from, to, now)}
      </Text>
    </Group>
  );
}
