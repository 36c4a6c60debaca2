/** What there is to know about a run at a glance: a list of names and facts. */
import { Anchor, Box, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { formatDuration, Time } from "../ui/time.tsx";
import type { ShownRun } from "./live-updates.ts";
import { formatElapsed } from "./elapsed.ts";
import { type Usage, formatUsage } from "./usage.ts";
import { TRIGGER_LABELS } from "./labels.ts";

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

/** Names and facts side by side, as many as there is room for. */
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

interface RunFactsProps {
  run: ShownRun;
  usage: Usage | undefined;
  now: number;
}

export function RunFacts({ run, usage, now }: RunFactsProps) {
  const { owner, key_name: key, surface, client } = run.started_by;
  const children = run.steps.flatMap(({ child_run: child }) => child ?? []);
  return (
    <Facts>
      <Fact name="Workflow">
        <Anchor component={Link} to={`/workflows/${run.workflow_id}`} inherit>
          {run.workflow_id}
        </Anchor>
        ,{" "}
        <Anchor component={Link} to={`/workflows/${run.workflow_id}/versions`} inherit>
          version {run.version}
        </Anchor>
        {run.patched === true && ", changed for this run"}
      </Fact>
      <Fact name="Started by">
        {owner} through {TRIGGER_LABELS[run.trigger]}
        <Text span c="dimmed" size="xs" display="block">
          {[surface !== "web" && key !== "" && `key ${key}`, clientOf(client)].filter(Boolean).join(" · ")}
        </Text>
      </Fact>
      <Fact name="Accepted">
        <Time at={run.created_at} />
      </Fact>
      {run.started_at !== null && (
        <Fact name={run.finished_at === null ? "Has taken" : "Took"}>
          {formatElapsed(run.started_at, run.finished_at, now)}
          {waited(run) > NOTEWORTHY_MS && ` after ${formatDuration(waited(run))} in the queue`}
        </Fact>
      )}
      {run.scheduled_for !== undefined && (
        <Fact name="Scheduled for">
          <Time at={run.scheduled_for} />
        </Fact>
      )}
      {run.retry_of !== undefined && (
        <Fact name="Retry of">
          <RunLink id={run.retry_of} />
        </Fact>
      )}
      {run.parent_run !== undefined && (
        <Fact name="Started by a step of">
          <RunLink id={run.parent_run} />
        </Fact>
      )}
      {children.length > 0 && (
        <Fact name="Runs that it started">
          {children.slice(0, MOST_CHILDREN).map((id, index) => (
            <span key={id}>
              {index > 0 && ", "}
              <RunLink id={id} />
            </span>
          ))}
          {children.length > MOST_CHILDREN && ` and ${children.length - MOST_CHILDREN} more: see its steps`}
        </Fact>
      )}
      {usage !== undefined && <Fact name="Models used">{formatUsage(usage)}</Fact>}
    </Facts>
  );
}

/** Every browser calls itself by half a line of history. */
const clientOf = (name: string): string => (name.startsWith("Mozilla/") ? "a browser" : name);

const MOST_CHILDREN = 4;
/** A shorter time in the queue says nothing. */
const NOTEWORTHY_MS = 1_000;

const waited = ({ created_at: from, started_at: to }: ShownRun): number =>
  to === null ? 0 : Date.parse(to) - Date.parse(from);
