/** The line above a graph: what starts a run, and within which time one must succeed. */
import { Group, Text } from "@mantine/core";
import { IconAlarm, IconClock, IconWebhook } from "@tabler/icons-react";
import { useMemo } from "react";
import { type DefinitionStart, definitionStarts } from "./definition-starts.ts";
import { NextTimes } from "./next-times.tsx";
import { CronText } from "./schedule-text.tsx";

const ICONS = { schedule: IconClock, webhook: IconWebhook, must_succeed: IconAlarm };

interface StartsLineProps {
  definition: Record<string, unknown> | null;
  /** The next times of its schedule, where they are known. */
  nextTimes?: readonly string[] | undefined;
}

export function StartsLine({ definition, nextTimes }: StartsLineProps) {
  const starts = useMemo(() => definitionStarts(definition), [definition]);
  if (starts.length === 0) return null;
  return (
    <Group component="ul" gap="xs" m={0} mb="xs" p={0} style={{ listStyle: "none" }} aria-label="Starts">
      {starts.map((start) => {
        const Icon = ICONS[start.kind];
        return (
          <Group
            component="li"
            key={start.kind === "webhook" ? `webhook ${start.id}` : start.kind}
            gap={4}
            wrap="nowrap"
            style={{ minWidth: 0 }}
          >
            <Icon size={14} aria-hidden style={{ flexShrink: 0 }} />
            <Text size="sm" span style={{ overflowWrap: "anywhere" }}>
              <Start start={start} />
              {start.kind === "schedule" && <NextTimes times={nextTimes} />}
            </Text>
          </Group>
        );
      })}
    </Group>
  );
}

function Start({ start }: { start: DefinitionStart }) {
  switch (start.kind) {
    case "schedule":
      return (
        <>
          Schedule: <CronText cron={start.cron} /> ({start.timezone})
        </>
      );
    case "webhook":
      return <>Webhook: {start.id}</>;
    case "must_succeed":
      return <>Must succeed every {start.every}</>;
  }
}
