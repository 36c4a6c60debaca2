/** The details of a run as a list of names and values. */
import { Anchor, Box, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { formatDuration } from "../ui/duration.ts";
import { Time } from "../ui/time.tsx";
import { WorkflowLink, WorkflowName } from "../workflows/names.tsx";
import type { LiveRun } from "./live-updates.ts";
import { formatElapsed } from "./elapsed.ts";
import { type Usage, formatUsage } from "./usage.ts";
import { triggerLabel } from "./labels.ts";

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

interface RunLinkProps {
  id: string;
  /** Whether it opens beside a dialog that would be lost. */
  newTab?: boolean;
  children?: ReactNode;
}

export function RunLink({ id, newTab = false, children = id }: RunLinkProps) {
  return (
    <Anchor
      component={Link}
      to={`/runs/${id}`}
      inherit
      underline="always"
      {...(newTab && { target: "_blank" })}
    >
      {children}
      {newTab && <span className="visually-hidden"> in a new tab</span>}
    </Anchor>
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
        <Fact name="Workflow">None: a single step</Fact>
      ) : (
        <Fact name="Workflow">
          <WorkflowLink id={run.workflow_id} />,{" "}
          <WorkflowLink id={run.workflow_id} page="/versions">
            version {run.version}
          </WorkflowLink>
          {run.patched === true && ", modified for this run"}
          <Text c="dimmed" size="xs">
            {run.workflow_id}
          </Text>
        </Fact>
      )}
      <Fact name="Started by">
        {owner}
        <Text span c="dimmed" size="xs" display="block">
          {[triggerLabel(run), surface !== "web" && key !== "" && `key ${key}`, clientLabel(client)]
            .filter(Boolean)
            .join(" · ")}
        </Text>
      </Fact>
      {run.caused_by !== undefined && (
        <Fact name="Also caused by">
          {run.caused_by.map(({ kind, owner: person = "Somebody unknown", by }) => (
            <Text span key={`${kind} ${by}`} size="sm" display="block">
              {person}{" "}
              <Text span c="dimmed" size="xs">
                {CAUSES[kind]}
              </Text>
            </Text>
          ))}
        </Fact>
      )}
      <Fact name="Created">
        <Time at={run.created_at} />
      </Fact>
      {run.started_at !== null && (
        <Fact name={run.finished_at === null ? "Elapsed" : "Duration"}>
          {formatElapsed(run.started_at, run.finished_at, now)}
          {queuedMs(run) > MIN_SHOWN_QUEUE_MS && ` (queued for ${formatDuration(queuedMs(run))})`}
        </Fact>
      )}
      {run.scheduled_for !== undefined && (
        <Fact name="Scheduled for">
          <Time at={run.scheduled_for} />
        </Fact>
      )}
      {run.replay_of !== undefined && (
        <Fact name="Replay of">
          <RunLink id={run.replay_of} />
          {run.backtest !== undefined && run.workflow_id !== null && (
            <>
              {" in a "}
              <Anchor component={Link} to={`/workflows/${run.workflow_id}/backtests/${run.backtest}`} inherit>
                backtest
              </Anchor>
            </>
          )}
        </Fact>
      )}
      {run.retry_of !== undefined && (
        <Fact name="Retry of">
          <RunLink id={run.retry_of} />
        </Fact>
      )}
      {run.retried_by !== undefined && (
        <Fact name="Retried by">
          <RunLink id={run.retried_by} />
        </Fact>
      )}
      {run.parent_run !== undefined && (
        <Fact name="Parent run">
          <RunLink id={run.parent_run} />
        </Fact>
      )}
      {run.on_failure !== undefined && (
        <Fact name="On failure">
          {run.on_failure.run_id === undefined ? (
            <>
              <WorkflowName id={run.on_failure.workflow_id} />,{" "}
              {run.on_failure.error === undefined ? "starting" : "could not start"}
            </>
          ) : (
            <RunLink id={run.on_failure.run_id}>
              <WorkflowName id={run.on_failure.workflow_id} />
            </RunLink>
          )}
        </Fact>
      )}
      {children.length > 0 && (
        <Fact name={children.length === 1 ? "Child run" : "Child runs"}>
          {children.slice(0, MAX_CHILDREN).map((id, index) => (
            <span key={id}>
              {index > 0 && ", "}
              <RunLink id={id} />
            </span>
          ))}
          {children.length > MAX_CHILDREN && `, and ${children.length - MAX_CHILDREN} more in its steps`}
        </Fact>
      )}
      {usage !== undefined && <Fact name="Model usage">{formatUsage(usage)}</Fact>}
    </Facts>
  );
}

/** What those did who caused a run. */
const CAUSES: Readonly<Record<NonNullable<LiveRun["caused_by"]>[number]["kind"], string>> = {
  started: "started a run that it retries",
  redelivered: "sent the delivery again",
  patched: "changed the definition",
  step: "wrote the step",
  settled: "said what an interrupted step returned",
  unsigned: "with the URL of the trigger",
};

/** A browser sends a long user agent, which says little. */
const clientLabel = (name: string): string => (name.startsWith("Mozilla/") ? "Browser" : name);

/** Maximum number of child runs that are linked. */
const MAX_CHILDREN = 4;
/** Minimum time in the queue that is shown, in milliseconds. */
const MIN_SHOWN_QUEUE_MS = 1_000;

const queuedMs = ({ created_at: from, started_at: to }: LiveRun): number =>
  to === null ? 0 : Date.parse(to) - Date.parse(from);
