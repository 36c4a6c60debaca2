/** The open interruptions of a run: what is known of each attempt, and the form to answer. */
import { Alert, Anchor, Button, Code, Group, Paper, Stack, Text } from "@mantine/core";
import { IconHelpTriangle } from "@tabler/icons-react";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Link } from "react-router";
import type { Interruption } from "../../../schemas/interruption.ts";
import type { RunStep } from "../../../schemas/run.ts";
import { Fact, Facts } from "../runs/facts.tsx";
import type { LiveRun } from "../runs/live-updates.ts";
import { fullValueLoader, stepQuery } from "../runs/queries.ts";
import { ScrollableValue, Section } from "../runs/section.tsx";
import { useStepRevision } from "../runs/use-step-revision.ts";
import { Copy } from "../ui/copy.tsx";
import { Id, MarkedText } from "../ui/id.tsx";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { endSentence } from "../ui/sentence.ts";
import { Time } from "../ui/time.tsx";
import { ValueView } from "../values/value-view.tsx";
import { SettleForm } from "./settle-form.tsx";
import { placeText, questionText, REASON_TEXTS, RUN_STATE_TEXTS, runStateOf, waitingFirst } from "./texts.ts";

export function RunInterruptions({ run }: { run: LiveRun }) {
  const { interruptions = [], open_interruptions: count = 0 } = run;
  const rest = count - interruptions.length;
  return (
    <>
      {waitingFirst(interruptions).map((interruption, index) => (
        <OpenInterruption
          key={interruption.id}
          run={run}
          interruption={interruption}
          isFirst={index === 0}
          isOnly={interruptions.length === 1}
        />
      ))}
      {interruptions.length > 0 && rest > 0 && (
        <Text size="sm">
          {rest.toLocaleString()} more in{" "}
          <Anchor component={Link} to={`/interruptions?run=${run.id}`} inherit underline="always">
            all open interruptions of this run
          </Anchor>
        </Text>
      )}
    </>
  );
}

interface OpenInterruptionProps {
  run: LiveRun;
  interruption: Interruption;
  /** Whether it is shown in full until the user hides it. */
  isFirst: boolean;
  isOnly: boolean;
}

function OpenInterruption({ run, interruption, isFirst, isOnly }: OpenInterruptionProps) {
  const [chosen, setChosen] = useState<boolean>();
  const open = isOnly || (chosen ?? isFirst);
  const details = useId();
  const { reason, interrupted_at: at } = interruption;
  const step = run.steps.find(({ id }) => id === interruption.step_id);
  const query = useQuery({
    ...stepQuery(run.id, interruption.step_id, interruption.item, useStepRevision(step)),
    enabled: open,
  });
  const current = interruption.item === undefined ? step : query.data;
  const runState = runStateOf(interruption, run, current?.status);
  return (
    <Alert
      color="yellow"
      icon={<IconHelpTriangle aria-hidden />}
      title={<MarkedText text={questionText(interruption)} />}
      role="region"
      style={{ overflowWrap: "anywhere" }}
    >
      <Stack gap="md">
        <Text size="sm">
          {REASON_TEXTS[reason]} {RUN_STATE_TEXTS[runState]}
          {!open && (
            <>
              {" "}
              Interrupted <Time at={at} ago />.
            </>
          )}
        </Text>
        {!isOnly && (
          <Group>
            <Button
              size="xs"
              variant="default"
              aria-expanded={open}
              aria-controls={details}
              aria-label={`${open ? "Hide" : "Show"} ${placeText(interruption)}`}
              onClick={() => setChosen(!open)}
            >
              {open ? "Hide" : "Show"}
            </Button>
          </Group>
        )}
        {open && (
          // The colours of values have no contrast of 4.5:1 on the colour of the banner (WCAG 1.4.3).
          <Paper id={details} withBorder p={{ base: "sm", sm: "md" }}>
            <Stack gap="md">
              <AttemptFacts interruption={interruption} stepType={step?.type} />
              <AttemptInput interruption={interruption} query={query} />
              <SettleForm interruption={interruption} runState={runState} stepType={step?.type} />
            </Stack>
          </Paper>
        )}
      </Stack>
    </Alert>
  );
}

function AttemptFacts({
  interruption,
  stepType,
}: {
  interruption: Interruption;
  stepType: string | undefined;
}) {
  const { step_id: step, item, attempt, idempotency_key: key, lookup } = interruption;
  return (
    <Facts>
      <Fact name="Step">
        <Id>{step}</Id>
        {stepType !== undefined && ` (${stepType})`}
      </Fact>
      {item !== undefined && <Fact name="Item">{item}</Fact>}
      <Fact name="Attempt">{attempt}</Fact>
      <Fact name="Started">
        <Time at={interruption.started_at} />
      </Fact>
      <Fact name="Interrupted">
        <Time at={interruption.interrupted_at} />
      </Fact>
      <Fact name="Idempotency key">
        <Group gap="xs" wrap="nowrap">
          <Code>{key}</Code>
          <Copy text={key} label="idempotency key" />
        </Group>
      </Fact>
      <Fact name="Lookup">
        {lookup === null || lookup.error === null ? (
          "None"
        ) : (
          <>
            It failed: {endSentence(lookup.error)} <Time at={lookup.at} ago />
          </>
        )}
      </Fact>
    </Facts>
  );
}

/** What the attempt may have sent. */
function AttemptInput({
  interruption,
  query,
}: {
  interruption: Interruption;
  query: UseQueryResult<RunStep>;
}) {
  const { run_id: runId, attempt: number } = interruption;
  const label = `Input of ${placeText(interruption)}, attempt ${number}`;
  return (
    <Section title="Input of the attempt" order={2}>
      <QueryContent query={query} skeleton={<LoadingSkeleton rows={2} />}>
        {({ attempt_list: attempts = [] }) => {
          const input = attempts.find(({ attempt }) => attempt === number)?.input;
          return input === undefined ? (
            <Text size="sm">It was not recorded, or is no longer listed.</Text>
          ) : (
            <ScrollableValue label={label}>
              <ValueView value={input} label={label} loadFull={fullValueLoader(runId, input)} />
            </ScrollableValue>
          );
        }}
      </QueryContent>
    </Section>
  );
}
