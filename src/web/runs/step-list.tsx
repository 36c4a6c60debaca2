/** All steps of a run as a list that renders only the visible rows. */
import { Box, Group, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useRef, useState } from "react";
import type { RunStep } from "../../../schemas/run.ts";
import { StatusBadge } from "../ui/status-badge.tsx";
import { formatElapsed } from "./elapsed.ts";
import { findSteps, MIN_SEARCHABLE } from "../graph/find-steps.ts";
import { failedLabel } from "../graph/step-label.ts";
import { itemCountLabel } from "../timeline/row-labels.ts";
import { pluralize } from "./labels.ts";
import { FailedCount } from "./run-status.tsx";

const ROW_PX = 44;

interface StepListProps {
  steps: readonly RunStep[];
  now: number;
  selected: string | undefined;
  onSelect: (stepId: string) => void;
}

export function StepList({ steps, now, selected, onSelect }: StepListProps) {
  const [search, setSearch] = useState("");
  const matching = findSteps(steps, search);
  return (
    <Stack gap="sm">
      {steps.length >= MIN_SEARCHABLE && (
        <TextInput
          aria-label="Find a step by id, type or status"
          placeholder="Find a step by id, type or status"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          maw={420}
        />
      )}
      {search.trim() !== "" && (
        <Text size="sm" c="dimmed" role="status">
          {pluralize(matching.length, "step")} of {steps.length}
        </Text>
      )}
      <Rows steps={matching} now={now} selected={selected} onSelect={onSelect} />
    </Stack>
  );
}

function Rows({ steps, now, selected, onSelect }: StepListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- its result is not memoised, and no compiler is used
  const rows = useVirtualizer({
    count: steps.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => steps[index]!.id,
    overscan: 8,
  });
  const moveFocus = (event: KeyboardEvent, index: number): void => {
    const to = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: steps.length - 1 }[event.key];
    if (to === undefined || steps[to] === undefined) return;
    event.preventDefault();
    const focus = (): boolean => {
      const button = scroller.current?.querySelector<HTMLElement>(`[data-index="${to}"] button`);
      button?.focus();
      return button !== null;
    };
    rows.scrollToIndex(to);
    // A distant row is rendered in the next frame.
    if (!focus()) requestAnimationFrame(focus);
  };
  return (
    <Box ref={scroller} mah={440} style={{ overflowY: "auto" }}>
      <Box
        component="ul"
        aria-label="Steps"
        m={0}
        p={0}
        pos="relative"
        h={rows.getTotalSize()}
        style={{ listStyle: "none" }}
      >
        {rows.getVirtualItems().map(({ index, key, start }) => (
          <Box
            component="li"
            key={key}
            data-index={index}
            aria-setsize={steps.length}
            aria-posinset={index + 1}
            pos="absolute"
            top={start}
            left={0}
            right={0}
            h={ROW_PX}
          >
            <Row
              step={steps[index]!}
              now={now}
              selected={steps[index]!.id === selected}
              onSelect={onSelect}
              onKeyDown={(event) => moveFocus(event, index)}
            />
          </Box>
        ))}
      </Box>
    </Box>
  );
}

interface RowProps {
  step: RunStep;
  now: number;
  selected: boolean;
  onSelect: (stepId: string) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

function Row({ step, now, selected, onSelect, onKeyDown }: RowProps) {
  return (
    <UnstyledButton
      aria-pressed={selected}
      onClick={() => onSelect(step.id)}
      onKeyDown={onKeyDown}
      w="100%"
      h={ROW_PX - 4}
      px="sm"
      bdrs="md"
      {...(selected && { bg: "var(--mantine-primary-color-light)" })}
    >
      <Group wrap="nowrap" gap="sm" h="100%">
        <Text size="sm" fw={500} truncate>
          {step.id}
        </Text>
        <Text size="xs" c="dimmed">
          {step.type}
        </Text>
        <Group gap="sm" ml="auto" wrap="nowrap">
          <Text size="xs" c="dimmed" visibleFrom="xs" style={{ whiteSpace: "nowrap" }}>
            {rowDetails(step, now)}
          </Text>
          <FailedCount label={failedLabel(step.items)} />
          <StatusBadge status={step.status} />
        </Group>
      </Group>
    </UnstyledButton>
  );
}

/** "57 items · 3 attempts · 1.2 s". */
function rowDetails(step: RunStep, now: number): string {
  const { attempts, started_at: from, finished_at: to, reused_from: reused, given } = step;
  return [
    itemCountLabel(step),
    attempts > 1 && pluralize(attempts, "attempt"),
    given === true
      ? "given"
      : reused !== undefined
        ? "reused"
        : from !== null && formatElapsed(from, to, now),
  ]
    .filter((part) => typeof part === "string")
    .join(" · ");
}
