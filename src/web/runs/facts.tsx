/** The details of a run as a list of names and values. */
import { Anchor, Box, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import * as texts from "#texts/runs";
import { linkTo } from "../ui/message-tags.tsx";
import { formatDuration, Time } from "../ui/time.tsx";
import type { LiveRun } from "./live-updates.ts";
import { formatElapsed } from "./elapsed.ts";
import { type Usage, formatUsage } from "./usage.ts";
import { triggerLabel } from "./labels.ts";
import { runName } from "./run-name.ts";

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Box miw={0}>
      <Text component="dt" size="xs" c="dimmed">
        {name}
      </Text>
      <Text component="dd" size="sm" m={0} style={{ overflowWrap: "anywhere" }}>
        {children}
      </Text>
    </Box>
  );
}

export function Facts({ children }: { children: ReactNode }) {
  return (
    <Box
      component="dl"
      m={0}
      display="grid"
      style={{ gridTemplateColumns: "repeat(auto-fill, minmax(min(100%, 190px), 1fr))", gap: "12px 16px" }}
    >
      {children}
    </Box>
  );
}

export function RunLink({ id, children = id }: { id: string; children?: ReactNode }) {
  return (
    <Anchor component={Link} to={`/runs/${id}`} inherit underline="always">
      {children}
    </Anchor>
  );
}

/** @returns the tag of a message that links to a run */
export const linkToRun = (id: string) => (text: ReactNode) => <RunLink id={id}>{text}</RunLink>;

/** What started a run by itself: a delivery to a webhook, or a time of the schedule. */
export function StartFacts({ run }: { run: LiveRun }) {
  const { delivery, scheduled_for: time, backfill } = run;
  return (
    <>
      {delivery !== undefined && (
        <Fact name={texts.delivery}>
          <Anchor
            component={Link}
            to={`/workflows/${run.workflow_id ?? ""}?delivery=${delivery.id}`}
            inherit
            underline="always"
          >
            {delivery.id}
          </Anchor>
          <Text span c="dimmed" size="xs" display="block">
            {texts.deliveredTo({
              trigger: delivery.trigger,
              time: <Time at={delivery.received_at} />,
            })}
          </Text>
        </Fact>
      )}
      {time !== undefined && (
        <Fact name={texts.scheduledFor}>
          <Time at={time} />
        </Fact>
      )}
      {backfill !== undefined && <Fact name={texts.backfill}>{backfill}</Fact>}
    </>
  );
}

interface RunFactsProps {
  run: LiveRun;
  usage: Usage | undefined;
  now: number;
}

export function RunFacts({ run, usage, now }: RunFactsProps) {
  const { owner, key_name: key, surface, client } = run.started_by;
  const children = run.steps.flatMap(({ child_run: child }) => child ?? []);
  return (
    <Facts>
      {run.workflow_id === null ? (
        <Fact name={texts.workflow}>{texts.workflowNone}</Fact>
      ) : (
        <Fact name={texts.workflow}>
          {texts.workflowVersion({
            name: runName(run),
            version: run.version ?? "",
            modified: run.patched === true ? "yes" : "no",
            workflow: linkTo(`/workflows/${run.workflow_id}`, { inherit: true }),
            link: linkTo(`/workflows/${run.workflow_id}/versions`, { inherit: true }),
          })}
        </Fact>
      )}
      <Fact name={texts.startedByName}>
        {owner}
        <Text span c="dimmed" size="xs" display="block">
          {[
            triggerLabel(run),
            surface !== "web" && key !== "" && texts.keyNamed({ name: key }),
            clientLabel(client),
          ]
            .filter(Boolean)
            .join(" · ")}
        </Text>
      </Fact>
      <Fact name={texts.created}>
        <Time at={run.created_at} />
      </Fact>
      {run.started_at !== null && (
        <Fact name={run.finished_at === null ? texts.elapsed : texts.duration}>
          {durationOf(run, formatElapsed(run.started_at, run.finished_at, now))}
        </Fact>
      )}
      <StartFacts run={run} />
      {run.retry_of !== undefined && (
        <Fact name={texts.retryOf}>
          <RunLink id={run.retry_of} />
        </Fact>
      )}
      {run.retried_by !== undefined && (
        <Fact name={texts.retriedBy}>
          <RunLink id={run.retried_by} />
        </Fact>
      )}
      {run.parent_run !== undefined && (
        <Fact name={texts.parentRun}>
          <RunLink id={run.parent_run} />
        </Fact>
      )}
      {run.on_failure !== undefined && (
        <Fact name={texts.onFailure}>
          <FailureHandler handler={run.on_failure} />
        </Fact>
      )}
      {children.length > 0 && (
        <Fact name={texts.childRuns({ count: children.length })}>
          <ChildRuns ids={children} />
        </Fact>
      )}
      {usage !== undefined && <Fact name={texts.modelUsageName}>{formatUsage(usage)}</Fact>}
    </Facts>
  );
}

function FailureHandler({ handler }: { handler: NonNullable<LiveRun["on_failure"]> }) {
  const { workflow_id: workflow, run_id: id, error } = handler;
  if (id !== undefined) return <RunLink id={id}>{workflow}</RunLink>;
  return error === undefined ? texts.handlerStarting({ workflow }) : texts.handlerNotStarted({ workflow });
}

function ChildRuns({ ids }: { ids: readonly string[] }) {
  const runs = ids.slice(0, MAX_CHILDREN).map((id, index) => (
    <span key={id}>
      {index > 0 && ", "}
      <RunLink id={id} />
    </span>
  ));
  return ids.length > MAX_CHILDREN ? texts.childRunsAndMore({ runs, more: ids.length - MAX_CHILDREN }) : runs;
}

/** A browser sends a long user agent, which says little. */
const clientLabel = (name: string): string => (name.startsWith("Mozilla/") ? texts.browser : name);

/** Maximum number of child runs that are linked. */
const MAX_CHILDREN = 4;
/** Minimum time in the queue that is shown, in milliseconds. */
const MIN_SHOWN_QUEUE_MS = 1_000;

/** How long a run took, and how long it was queued before, if that is worth knowing. */
function durationOf(run: LiveRun, elapsed: string): string {
  const queued = queuedMs(run);
  return queued > MIN_SHOWN_QUEUE_MS ? texts.queuedFor({ elapsed, queued: formatDuration(queued) }) : elapsed;
}

const queuedMs = ({ created_at: from, started_at: to }: LiveRun): number =>
  to === null ? 0 : Date.parse(to) - Date.parse(from);
