/** One step of a run: input, output, attempts and error. */
import { Alert, Anchor, Button, Card, Code, Group, Stack, Text, Title } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import type { RunStep } from "../../../schemas/run.ts";
import { waitEndLabel } from "../../../schemas/waiting-step-types.ts";
import { StepInterruptions } from "../interruptions/step-interruptions.tsx";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { Copy } from "../ui/copy.tsx";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { ValueView } from "../values/value-view.tsx";
import { Attempts } from "./attempts.tsx";
import { Fact, Facts, RunLink } from "./facts.tsx";
import { Items } from "./items.tsx";
import { ErrorBox, Section } from "./section.tsx";
import { stepQuery, fullValueLoader } from "./queries.ts";
import type { LiveRun } from "./live-updates.ts";
import { formatElapsed } from "./elapsed.ts";
import { formatUsage, sumUsage } from "./usage.ts";
import { useStepRevision } from "./use-step-revision.ts";
import { describeReuse } from "./labels.ts";

interface StepPanelProps {
  run: LiveRun;
  step: RunStep;
  now: number;
  onClose: () => void;
}

/** The shown item or iteration is part of the URL. */
export function StepPanel({ run, step, now, onClose }: StepPanelProps) {
  const [params, setParams] = useSearchParams();
  const itemParam = params.get("item") ?? "";
  const item = step.items !== undefined && /^\d{1,6}$/.test(itemParam) ? Number(itemParam) : undefined;
  const revision = useStepRevision(step);
  const query = useQuery(stepQuery(run.id, step.id, item, revision));
  const current = item === undefined ? step : (query.data ?? step);
  const showItem = (to: number | undefined): void =>
    setParams(
      (before) => {
        before.set("step", step.id);
        if (to === undefined) before.delete("item");
        else before.set("item", String(to));
        return before;
      },
      { replace: true, preventScrollReset: true },
    );
  return (
    <Card withBorder component="section" aria-labelledby="step-heading" p={{ base: "sm", sm: "md" }}>
      <Stack>
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Group gap="sm">
            <Title order={2} size="h4" id="step-heading" style={{ overflowWrap: "anywhere" }}>
              {step.id}
            </Title>
            <Text size="sm" c="dimmed">
              {step.type}
            </Text>
            <StatusBadge status={step.status} />
          </Group>
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            onClick={onClose}
            aria-label={`Close ${step.id}`}
          >
            <IconX size={16} aria-hidden />
          </Button>
        </Group>
        <StepFacts run={run} step={current} startedAt={startedAtOf(current, query.data)} now={now} />
        {step.items !== undefined && item !== undefined ? (
          <Text size="sm">
            <Anchor component="button" type="button" inherit onClick={() => showItem(undefined)}>
              All {step.items.max === undefined ? "items" : "iterations"}
            </Anchor>{" "}
            › {step.items.max === undefined ? "item" : "iteration"} {item}
          </Text>
        ) : null}
        <QueryContent query={query} skeleton={<LoadingSkeleton rows={3} />}>
          {(details) => (
            <Details run={run} step={details} now={now}>
              <StepInterruptions run={run} stepId={details.id} item={details.item} revision={revision} />
              {details.items !== undefined && item === undefined && (
                <Items run={run} step={details} revision={revision} onItem={showItem} />
              )}
            </Details>
          )}
        </QueryContent>
      </Stack>
    </Card>
  );
}

/** The start of the first attempt, if loaded; the step's own start is that of its latest attempt. */
const startedAtOf = (step: RunStep, details: RunStep | undefined): string | null =>
  details?.attempt_list?.find(({ attempt }) => attempt === 1)?.started_at ?? step.started_at;

interface StepFactsProps {
  run: LiveRun;
  step: RunStep;
  startedAt: string | null;
  now: number;
}

function StepFacts({ run, step, startedAt, now }: StepFactsProps) {
  const approvals = (run.approvals ?? []).filter(({ step_id: id }) => id === step.id);
  const may = useHasScopeIn(run);
  const reused = describeReuse(step);
  return (
    <>
      {approvals.map(({ id, message, progress }) => (
        <Alert
          key={id}
          color="yellow"
          title={progress === undefined ? "Needs approval" : `Needs approval: ${progress}`}
        >
          <Group justify="space-between" gap="sm">
            <Text size="sm" lineClamp={3} style={{ whiteSpace: "pre-line" }}>
              {message}
            </Text>
            <Button component={Link} to={`/approvals/${id}`} size="xs" variant="default">
              {may("approve") ? "Review" : "View"}
            </Button>
          </Group>
        </Alert>
      ))}
      {reused !== undefined && (
        <Text size="sm">
          {reused.text}
          {reused.run !== undefined && (
            <>
              {" "}
              <RunLink id={reused.run} />.
            </>
          )}
        </Text>
      )}
      <Facts>
        {startedAt !== null && (
          <Fact name="Started">
            <Time at={startedAt} />
          </Fact>
        )}
        {startedAt !== null && (
          <Fact name={step.finished_at === null ? "Elapsed" : "Duration"}>
            {formatElapsed(startedAt, step.finished_at, now)}
          </Fact>
        )}
        {step.waits_until !== undefined && (
          <Fact name={waitEndLabel(step.type)}>
            <Time at={step.waits_until} />
          </Fact>
        )}
        {step.child_run !== undefined && (
          <Fact name="Child run">
            <RunLink id={step.child_run} />
          </Fact>
        )}
        {step.items !== undefined && (
          <Fact name={step.items.max === undefined ? "Items" : "Iterations"}>
            {step.items.done.toLocaleString()}{" "}
            {step.items.max === undefined
              ? `of ${step.items.total.toLocaleString()} completed`
              : `completed, at most ${step.items.max.toLocaleString()}`}
            {step.items.reused !== undefined && `, ${step.items.reused.toLocaleString()} reused`}
            {step.items.failed > 0 && (
              <>
                {", "}
                <Text span inherit fw={700} c="var(--mantine-color-error)">
                  {step.items.failed.toLocaleString()} failed
                </Text>
              </>
            )}
          </Fact>
        )}
      </Facts>
    </>
  );
}

/** The error, output and attempts of a step or an item. */
function Details({
  run,
  step,
  now,
  children,
}: {
  run: LiveRun;
  step: RunStep;
  now: number;
  children: ReactNode;
}) {
  const attempts = step.attempt_list ?? [];
  const usage = sumUsage(attempts);
  const label = step.item === undefined ? step.id : `${step.id}, item ${step.item}`;
  return (
    <Stack>
      {step.error !== null && <ErrorBox error={step.error} />}
      {step.event_url !== undefined && <ExpectedEvent url={step.event_url} />}
      {usage !== undefined && <Text size="sm">Model usage: {formatUsage(usage)}</Text>}
      {children}
      {step.output !== undefined && (
        <Section title="Output">
          <ValueView
            value={step.output}
            label={`Output of ${label}`}
            loadFull={fullValueLoader(run.id, step.output)}
          />
        </Section>
      )}
      {attempts.length > 0 && (
        <Attempts
          runId={run.id}
          ownerLabel={label}
          attempts={attempts}
          reportedAttempt={step.error === null ? undefined : attempts.at(-1)}
          now={now}
        />
      )}
      {attempts.length === 0 &&
        step.output === undefined &&
        step.error === null &&
        step.items === undefined && (
          <Text size="sm" c="dimmed">
            {NO_DETAILS[step.status]}
          </Text>
        )}
    </Stack>
  );
}

/** Where the event of a step is sent. */
function ExpectedEvent({ url }: { url: string }) {
  return (
    <Alert color="blue" title="Expects an event">
      <Stack gap="xs">
        <Text size="sm">
          It continues when JSON is posted to this URL. Anyone who has the URL can do that, once.
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Code style={{ overflowWrap: "anywhere" }}>{url}</Code>
          <Copy text={url} label="event URL" />
        </Group>
      </Stack>
    </Alert>
  );
}

/** Shown for a step without input, output and error. */
const NO_DETAILS: Readonly<Record<RunStep["status"], string>> = {
  pending: "Pending: the steps that it needs have not ended.",
  running: "Running. The input appears when it is recorded.",
  waiting: "Waiting. It continues automatically.",
  succeeded: "No details were recorded.",
  failed: "No other details were recorded.",
  skipped: "Skipped: its condition was false.",
  cancelled: "Cancelled: the run ended before this step started.",
};
