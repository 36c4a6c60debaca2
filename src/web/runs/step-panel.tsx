/** One step of a run: what it took and gave, how often it was tried, and why it failed. */
import { Alert, Anchor, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { useThrottledValue } from "@mantine/hooks";
import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import type { RunStep } from "../../../schemas/run.ts";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { ValueView } from "../values/value-view.tsx";
import { Attempts } from "./attempts.tsx";
import { Fact, Facts, RunLink } from "./facts.tsx";
import { Items } from "./items.tsx";
import { ErrorBox, Section } from "./section.tsx";
import { stepQuery, fullValueLoader } from "./queries.ts";
import type { ShownRun } from "./live-updates.ts";
import { formatElapsed } from "./elapsed.ts";
import { formatUsage, sumUsage } from "./usage.ts";
import { describeReuse } from "./labels.ts";

/** A fan-out moves many times a second; its details are asked for less often. */
const AT_MOST_EVERY_MS = 2_000;

interface StepPanelProps {
  run: ShownRun;
  step: RunStep;
  now: number;
  onClose: () => void;
}

/** Which item of a fan-out is shown stands in the address. */
export function StepPanel({ run, step, now, onClose }: StepPanelProps) {
  const [params, setParams] = useSearchParams();
  const given = params.get("item") ?? "";
  const item = step.items !== undefined && /^\d{1,6}$/.test(given) ? Number(given) : undefined;
  const moved = useThrottledValue(
    `${step.status} ${step.attempts} ${step.items?.done ?? ""} ${step.items?.failed ?? ""}`,
    AT_MOST_EVERY_MS,
  );
  const query = useQuery(stepQuery(run.id, step.id, item, moved));
  const shown = item === undefined ? step : (query.data ?? step);
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
        <StepFacts run={run} step={shown} began={beganAt(shown, query.data)} now={now} />
        {step.items !== undefined && item !== undefined ? (
          <Text size="sm">
            <Anchor component="button" type="button" inherit onClick={() => showItem(undefined)}>
              All items
            </Anchor>{" "}
            › item {item}
          </Text>
        ) : null}
        <QueryContent query={query} skeleton={<LoadingSkeleton rows={3} />}>
          {(whole) => (
            <Details run={run} step={whole} now={now}>
              {whole.items !== undefined && item === undefined && (
                <Items run={run} step={whole} revision={moved} onItem={showItem} />
              )}
            </Details>
          )}
        </QueryContent>
      </Stack>
    </Card>
  );
}

/** Its first attempt's beginning, where that is known: the step's own is the newest one's. */
const beganAt = (step: RunStep, whole: RunStep | undefined): string | null =>
  whole?.attempt_list?.find(({ attempt }) => attempt === 1)?.started_at ?? step.started_at;

interface StepFactsProps {
  run: ShownRun;
  step: RunStep;
  began: string | null;
  now: number;
}

function StepFacts({ run, step, began, now }: StepFactsProps) {
  const approvals = (run.approvals ?? []).filter(({ step_id: id }) => id === step.id);
  const reused = describeReuse(step);
  return (
    <>
      {approvals.map(({ id, message }) => (
        <Alert key={id} color="yellow" title="It waits for somebody to decide">
          <Group justify="space-between" gap="sm">
            <Text size="sm" lineClamp={3} style={{ whiteSpace: "pre-line" }}>
              {message}
            </Text>
            <Button component={Link} to={`/approvals/${id}`} size="xs" variant="default">
              Look and decide
            </Button>
          </Group>
        </Alert>
      ))}
      {reused !== undefined && (
        <Text size="sm">
          {reused.words}
          {reused.run !== undefined && (
            <>
              {" "}
              <RunLink id={reused.run} />.
            </>
          )}
        </Text>
      )}
      <Facts>
        {began !== null && (
          <Fact name="Began">
            <Time at={began} />
          </Fact>
        )}
        {began !== null && (
          <Fact name={step.finished_at === null ? "Has taken" : "Took"}>
            {formatElapsed(began, step.finished_at, now)}
          </Fact>
        )}
        {step.waits_until !== undefined && (
          <Fact name={step.type === "approval" ? "To be decided until" : "Waits until"}>
            <Time at={step.waits_until} />
          </Fact>
        )}
        {step.child_run !== undefined && (
          <Fact name="The run that it started">
            <RunLink id={step.child_run} />
          </Fact>
        )}
        {step.items !== undefined && (
          <Fact name="Items">
            {step.items.done.toLocaleString()} of {step.items.total.toLocaleString()} done
            {step.items.failed > 0 && `, ${step.items.failed.toLocaleString()} failed`}
          </Fact>
        )}
      </Facts>
    </>
  );
}

/** What became of a step, or of one item: the error first, then what it gave, then what it took, try by try. */
function Details({
  run,
  step,
  now,
  children,
}: {
  run: ShownRun;
  step: RunStep;
  now: number;
  children: ReactNode;
}) {
  const attempts = step.attempt_list ?? [];
  const usage = sumUsage(attempts);
  const of = step.item === undefined ? step.id : `${step.id}, item ${step.item}`;
  return (
    <Stack>
      {step.error !== null && <ErrorBox error={step.error} />}
      {usage !== undefined && <Text size="sm">Models used: {formatUsage(usage)}</Text>}
      {children}
      {step.output !== undefined && (
        <Section title="Output">
          <ValueView
            value={step.output}
            label={`Output of ${of}`}
            loadFull={fullValueLoader(run.id, step.output)}
          />
        </Section>
      )}
      {attempts.length > 0 && (
        <Attempts
          runId={run.id}
          ownerLabel={of}
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
            {NOTHING_YET[step.status]}
          </Text>
        )}
    </Stack>
  );
}

/** Why a step shows nothing of its own. */
const NOTHING_YET: Readonly<Record<RunStep["status"], string>> = {
  pending: "It has not begun: what it waits for has not ended.",
  running: "It is at work. What it took is shown as soon as it is recorded.",
  waiting: "It waits, and then goes on by itself.",
  succeeded: "Nothing is recorded of it.",
  failed: "Nothing else is recorded of it.",
  skipped: "It was skipped: its condition did not hold.",
  cancelled: "It never ran: the run ended before its turn.",
};
