/** The log of a run: what happened in it, oldest first. */
import { Anchor, Button, Group, Stack, Text, Timeline } from "@mantine/core";
import { useThrottledValue } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link } from "react-router";
import * as texts from "#texts/runs";
import type { RunLogEntry } from "../../../schemas/run-log.ts";
import { send } from "../api/client.ts";
import { ErrorAlert, LoadingSkeleton } from "../ui/page.tsx";
import { cursorPagination, cursorParam, flattenPages } from "../ui/pagination.ts";
import { formatDuration, Time } from "../ui/time.tsx";
import { RunLink } from "./facts.tsx";
import { firstSentence } from "./failure.ts";
import type { LiveRun } from "./live-updates.ts";
import { logColor, logSentence } from "./log-sentence.ts";

const PAGE_SIZE = 100;
/** Minimum time between two loads of a log that grows, in milliseconds. */
const REFRESH_MS = 2_000;

export function RunLog({ run, onSelect }: { run: LiveRun; onSelect: (stepId: string) => void }) {
  // The log grows whenever a step or the run changes. All pages that are shown are loaded again then.
  const revision = `${run.status} ${run.steps.map(({ status, attempts }) => `${status}${attempts}`).join(" ")}`;
  const query = useInfiniteQuery({
    queryKey: ["runs", run.id, "log"],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/runs/{run_id}/log", {
        path: { run_id: run.id },
        query: { limit: PAGE_SIZE, ...cursorParam(pageParam) },
        signal,
      }),
    ...cursorPagination,
  });
  useRefreshed(query.refetch, useThrottledValue(revision, REFRESH_MS));
  const entries = flattenPages(query.data);
  if (entries === undefined)
    return query.isError ? (
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
    ) : (
      <LoadingSkeleton rows={6} />
    );
  const total = query.data?.pages[0]?.total ?? entries.length;
  return (
    <Stack gap="md">
      <Timeline bulletSize={12} lineWidth={2} active={entries.length} aria-label={texts.eventsOfRun}>
        {entries.map((entry) => (
          <Timeline.Item key={keyOf(entry)} color={logColor(entry.kind)}>
            <Entry entry={entry} from={entries[0]!.at} onSelect={onSelect} />
          </Timeline.Item>
        ))}
      </Timeline>
      {query.hasNextPage && (
        <Group justify="space-between">
          <Text size="sm" c="dimmed" role="status">
            {texts.eventsShown({ shown: entries.length, total })}
          </Text>
          <Button
            size="xs"
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {texts.loadMore}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** Loads again when the revision changes, and not for the first one. */
function useRefreshed(refetch: () => unknown, revision: string): void {
  const loaded = useRef(revision);
  useEffect(() => {
    if (loaded.current === revision) return;
    loaded.current = revision;
    refetch();
  }, [refetch, revision]);
}

const keyOf = ({ at, kind, step_id: step, attempt, approval_id: approval, by }: RunLogEntry): string =>
  [at, kind, step, attempt, approval, by].join(" ");

interface EntryProps {
  entry: RunLogEntry;
  /** When the run was created. */
  from: string;
  onSelect: (stepId: string) => void;
}

function Entry({ entry, from, onSelect }: EntryProps) {
  const { at, step_id: step, note, until, run_id: other, approval_id: approval, error } = entry;
  return (
    <Stack gap={2}>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {step !== undefined && (
          <>
            <Anchor component="button" type="button" inherit fw={500} onClick={() => onSelect(step)}>
              {step}
            </Anchor>{" "}
          </>
        )}
        {until === undefined
          ? logSentence(entry)
          : texts.logUntil({ event: logSentence(entry), time: <Time at={until} /> })}
        {other !== undefined && (
          <>
            {": "}
            <RunLink id={other} />
          </>
        )}
        {approval !== undefined && entry.kind === "approval_requested" && (
          <>
            {" · "}
            <Anchor component={Link} to={`/approvals/${approval}`} inherit>
              {texts.viewApproval}
            </Anchor>
          </>
        )}
      </Text>
      {error !== undefined && (
        <Text size="sm" c="red" style={{ overflowWrap: "anywhere" }}>
          {firstSentence(error.message)}
        </Text>
      )}
      {note !== undefined && (
        <Text size="sm" c="dimmed" lineClamp={3} style={{ overflowWrap: "anywhere" }}>
          {note}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        <Time at={at} /> · +{formatDuration(Date.parse(at) - Date.parse(from))}
      </Text>
    </Stack>
  );
}
