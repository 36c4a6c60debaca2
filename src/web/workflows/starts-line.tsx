/** The line above a graph: when the schedule starts runs, in words, and within which time one must succeed. */
import { Group, Text } from "@mantine/core";
import { IconAlarm, IconCalendarTime } from "@tabler/icons-react";
import { useMemo } from "react";
import * as texts from "#texts/workflows";
import { type DefinitionStart, definitionStarts } from "./definition-starts.ts";
import { CronText } from "./schedule-text.tsx";

const ICONS = { schedule: IconCalendarTime, must_succeed: IconAlarm };

export function StartsLine({ definition }: { definition: Record<string, unknown> | null }) {
  // The webhooks are nodes of the graph.
  const starts = useMemo(
    () => definitionStarts(definition).filter((start) => start.kind !== "webhook"),
    [definition],
  );
  if (starts.length === 0) return null;
  return (
    <Group
      component="ul"
      gap="xs"
      m={0}
      mb="xs"
      p={0}
      style={{ listStyle: "none" }}
      aria-label={texts.starts}
    >
      {starts.map((start) => {
        const Icon = ICONS[start.kind];
        return (
          <Group component="li" key={start.kind} gap={4} wrap="nowrap" style={{ minWidth: 0 }}>
            <Icon size={14} aria-hidden style={{ flexShrink: 0 }} />
            <Text size="sm" span style={{ overflowWrap: "anywhere" }}>
              <Start start={start} />
            </Text>
          </Group>
        );
      })}
    </Group>
  );
}

function Start({ start }: { start: Exclude<DefinitionStart, { kind: "webhook" }> }) {
  switch (start.kind) {
    case "schedule":
      return texts.scheduleLine({ cron: <CronText cron={start.cron} />, timezone: start.timezone });
    case "must_succeed":
      return texts.mustSucceed({ every: start.every });
  }
}
