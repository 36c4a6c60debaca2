/** The attempts of a step, the newest open: when, how long, what it took, what its model used, why it failed. */
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
  /** Whose they are, in words. */
  ownerLabel: string;
  attempts: readonly Attempt[];
  /** Whose error is told already, as the step's own. */
  reportedAttempt: Attempt | undefined;
  now: number;
}

export function Attempts({ runId, ownerLabel, attempts, reportedAttempt, now }: AttemptsProps) {
  const newest = attempts.at(-1)!;
  if (attempts.length === 1 && newest.status !== "interrupted") {
    // One try is no list: what it took is all that is left to say.
    return newest.input === undefined ? null : (
      <Section title="What it took">
        <Input runId={runId} of={ownerLabel} attempt={newest} />
      </Section>
    );
  }
  return (
    <Section title={`Attempts (${newest.attempt})`}>
      {newest.attempt > attempts.length && (
        <Text size="sm" c="dimmed">
          The last {attempts.length} are shown.
        </Text>
      )}
      <Accordion variant="separated" multiple defaultValue={[String(newest.attempt)]} order={4}>
        {attempts.toReversed().map((attempt) => (
          <Accordion.Item key={attempt.attempt} value={String(attempt.attempt)}>
            <Accordion.Control>
              <Head attempt={attempt} now={now} />
            </Accordion.Control>
            <Accordion.Panel>
              <Stack gap="sm">
                {attempt.error !== null && attempt !== reportedAttempt && <ErrorBox error={attempt.error} />}
                {attempt.status === "interrupted" && (
                  <Text size="sm">
                    The process that carried it out ended meanwhile, so it was tried again.
                  </Text>
                )}
                {attempt.usage !== null && <Text size="sm">Models used: {formatUsage(attempt.usage)}</Text>}
                {attempt.input !== undefined && (
                  <Section title="What it took">
                    <Input runId={runId} of={ownerLabel} attempt={attempt} />
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

const Input = ({
  runId,
  of,
  attempt: { attempt, input },
}: {
  runId: string;
  of: string;
  attempt: Attempt;
}) => (
  <ValueView
    value={input}
    label={`What attempt ${attempt} of ${of} took`}
    loadFull={fullValueLoader(runId, input)}
  />
);

function Head({
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
