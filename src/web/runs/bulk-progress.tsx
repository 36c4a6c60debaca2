/** The progress of a bulk action, and what became of each run. */
import { Button, Group, List, Modal, Progress, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import * as texts from "#texts/runs";
import type { RunSummary } from "../../../schemas/run.ts";
import { type BulkAction, BULK_REQUESTS, type BulkResult, runBulk } from "./bulk.ts";
import { RunLink } from "./facts.tsx";
import { runName } from "./run-name.ts";
import { useIdempotencyHeader } from "./use-idempotency-header.ts";

interface BulkProgressProps {
  action: BulkAction;
  runs: readonly RunSummary[];
  onClose: () => void;
}

export default function BulkProgress({ action, runs, onClose }: BulkProgressProps) {
  const client = useQueryClient();
  const [results, setResults] = useState<readonly BulkResult[]>([]);
  /** Number of rounds that have ended: the first, and the one that repeats effects. */
  const [ended, setEnded] = useState(0);
  // Requests are repeated with the same key, so none is executed twice.
  const headerFor = useIdempotencyHeader();
  const controller = useRef<AbortController>(null);
  const start = useEffectEvent(async (ids: readonly string[], confirm: boolean): Promise<void> => {
    const own = new AbortController();
    controller.current = own;
    await runBulk(BULK_REQUESTS[action], ids, {
      confirm,
      headerFor,
      signal: own.signal,
      onResult: (result) =>
        setResults((before) => [...before.filter(({ runId }) => runId !== result.runId), result]),
    });
    if (controller.current !== own) return;
    setEnded(confirm ? 2 : 1);
    await client.invalidateQueries({ queryKey: ["runs"] });
  });
  const [confirmed, setConfirmed] = useState<readonly string[]>();
  useEffect(() => {
    void start(confirmed ?? runs.map(({ id }) => id), confirmed !== undefined);
    // The requests that were sent are not taken back; no further ones are sent.
    return () => controller.current?.abort();
  }, [confirmed, runs]);
  const running = ended < (confirmed === undefined ? 1 : 2);
  const done = results.filter(({ outcome }) => outcome === "done");
  const others = results.filter(({ outcome }) => outcome !== "done");
  const effects = results.filter(({ outcome }) => outcome === "effects").map(({ runId }) => runId);
  const byId = new Map(runs.map((run) => [run.id, run]));
  const counts = { action, ended: results.length, total: runs.length, done: done.length };
  return (
    <Modal opened onClose={onClose} title={texts.bulkTitle({ action, count: runs.length })} size="lg">
      <Stack gap="md">
        <Progress value={(results.length / runs.length) * 100} aria-label={texts.bulkLabel({ action })} />
        <Text size="sm" role="status">
          {others.length === 0
            ? texts.bulkProgress(counts)
            : texts.bulkProgressRefused({ ...counts, others: others.length })}
        </Text>
        {others.length > 0 && (
          <List size="sm" spacing="xs" aria-label={texts.bulkRefused({ action })}>
            {others.map(({ runId, reason, outcome }) => (
              <List.Item key={runId} style={{ overflowWrap: "anywhere" }}>
                <RunLink id={runId}>{runName(byId.get(runId)!)}</RunLink>{" "}
                <Text span size="xs" c="dimmed">
                  {runId}
                </Text>
                <Text size="sm">
                  {outcome === "effects" ? texts.wouldRepeatEffects({ reason: reason ?? "" }) : reason}
                </Text>
              </List.Item>
            ))}
          </List>
        )}
        {done.some(({ startedRun }) => startedRun !== undefined) && (
          <List size="sm" spacing={4} aria-label={texts.startedRuns}>
            {done.map(
              ({ runId, startedRun }) =>
                startedRun !== undefined && (
                  <List.Item key={runId}>
                    {runName(byId.get(runId)!)}: <RunLink id={startedRun} />
                  </List.Item>
                ),
            )}
          </List>
        )}
        <Group justify="flex-end">
          {!running && effects.length > 0 && (
            <Button color="red" variant="light" onClick={() => setConfirmed(effects)}>
              {texts.retryWithEffects({ count: effects.length })}
            </Button>
          )}
          {running ? (
            <Button
              variant="default"
              onClick={() => {
                controller.current?.abort();
              }}
            >
              {texts.stop}
            </Button>
          ) : (
            <Button onClick={onClose}>{texts.done}</Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
